"""Where the index is, what may be asked of it, and the one client of a process."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Literal

from fencepost.kernel.aws.session import aws_errors
from fencepost.retrieval.domain.search import IndexUnavailable

if TYPE_CHECKING:
    from opensearchpy import OpenSearch, TransportError, Urllib3AWSV4SignerAuth

type Generation = Literal["classic", "next", "node"]
"""Of OpenSearch Serverless, or a node that is one's own."""

type ClusterAnswer = dict[str, Any]

_LOGGERS: Final = ("opensearch", "opensearchpy.trace")
_KIND: Final = re.compile(r"[a-z_]{1,80}")
_SERVICE: Final = "aoss"
_THROTTLED: Final = 429
_UNAVAILABLE: Final = frozenset({_THROTTLED, 500, 502, 503, 504})
_NOT_YET: Final = frozenset({403, 404})
"""A collection's policies and indices are in force everywhere only after a while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Deadlines in seconds: of connecting, of one search, of one write, and of a write with all its attempts."""

    connect: float = 0.5
    search: float = 1.0
    write: float = 10.0
    writes: float = 30.0


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """An OpenSearch endpoint. Threads may share it. The client library is loaded at the first call.

    Args:
        endpoint: its address, with a scheme.
        generation: what it is.
        region: that requests are signed for; of Serverless.
        limits: how long calls may take.
    """

    endpoint: str = field(repr=False)
    generation: Generation
    region: str = ""
    limits: Limits = Limits()
    _lock: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    @property
    def client_ids(self) -> bool:
        """Whether we say what an entry is called. Vector collections of Serverless choose it themselves."""
        return self.generation == "node"

    @property
    def engine(self) -> Literal["faiss", "lucene"]:
        """What searches vectors: Serverless has faiss alone, and Lucene needs no native library."""
        return "lucene" if self.generation == "node" else "faiss"

    def call(self, ask: Callable[[OpenSearch], ClusterAnswer]) -> ClusterAnswer:
        """Ask something of the cluster. Nothing is tried twice.

        Raises:
            IndexUnavailable: it did not answer, or refused. The library's error is dropped: it may hold the request.
        """
        try:
            with self._lock:
                client = self._client
            return ask(client)
        except _errors() as error:
            raise unavailable(error) from None

    def search(self, name: str, body: ClusterAnswer, seconds: float) -> ClusterAnswer:
        """Search an index, or what an alias stands for.

        Raises:
            IndexUnavailable: as `call`; or not all of the index answered. Who compares, or verifies an erasure, would
                take what is not there for gone.
        """
        params = {"request_timeout": self.patience(seconds)}
        answer = self.call(lambda client: _answer(client.search(body=body, index=name, params=params)))
        if "hits" not in answer or answer.get("timed_out") or answer.get("_shards", {}).get("failed"):
            raise IndexUnavailable("partial")
        return answer

    def request(self, method: str, path: str, body: ClusterAnswer | None = None) -> ClusterAnswer:
        """Ask what the library has no shorter way for. Errors are those of `call`."""
        patience = self.patience(self.limits.write)
        return self.call(
            lambda client: _answer(client.transport.perform_request(method, path, body=body, timeout=patience))
        )

    def patience(self, seconds: float) -> Any:
        """Return a deadline as the client takes it."""
        from urllib3 import Timeout

        return Timeout(connect=min(self.limits.connect, seconds), read=seconds)

    @cached_property
    def _client(self) -> OpenSearch:
        from opensearchpy import OpenSearch

        for name in _LOGGERS:
            # At DEBUG these write whole requests, at WARNING their addresses.
            logging.getLogger(name).setLevel(logging.CRITICAL)
        return OpenSearch(
            hosts=[self.endpoint],
            http_auth=None if self.generation == "node" else _signer(self.region),
            timeout=self.patience(self.limits.search),
            max_retries=0,
            pool_maxsize=10,
        )


def unavailable(error: Exception) -> IndexUnavailable:
    """Return what an error of the client says to the services."""
    from opensearchpy import ConnectionError as Unreachable
    from opensearchpy import ConnectionTimeout, TransportError

    if isinstance(error, ConnectionTimeout):
        return IndexUnavailable("timeout")
    if isinstance(error, Unreachable):
        return IndexUnavailable("unreachable")
    if isinstance(error, TransportError):
        return refusal(_status(error), str(error.error))
    return IndexUnavailable(type(error).__name__)


def refusal(status: int, kind: str) -> IndexUnavailable:
    """Return what a refusal says: its status, and the machine's name of the reason."""
    # What is no name of a kind may be anything, of the request's words too.
    named = kind if _KIND.fullmatch(kind) else ""
    reason = "throttled" if status == _THROTTLED else f"{status} {named}".rstrip()
    return IndexUnavailable(reason, retriable=status in _UNAVAILABLE | _NOT_YET)


def is_passing(status: int) -> bool:
    """Tell whether a refusal of one entry may be over in a moment."""
    return status in _UNAVAILABLE


def _answer(answer: Any) -> ClusterAnswer:
    return answer if isinstance(answer, dict) else {}


def _status(error: TransportError) -> int:
    return error.status_code if isinstance(error.status_code, int) else 0


def _signer(region: str) -> Urllib3AWSV4SignerAuth:
    from boto3.session import Session
    from opensearchpy import Urllib3AWSV4SignerAuth

    return Urllib3AWSV4SignerAuth(Session().get_credentials(), region, _SERVICE)


def _errors() -> tuple[type[Exception], ...]:
    from opensearchpy import OpenSearchException

    # Without credentials the signer raises ValueError.
    return OpenSearchException, *aws_errors(), ValueError
