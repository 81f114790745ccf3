"""An OpenSearch endpoint: its client, deadlines, requests and errors."""

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
    from opensearchpy import OpenSearch

type Generation = Literal["classic", "next", "node"]
"""A generation of OpenSearch Serverless, or a self-managed node."""

type ClusterAnswer = dict[str, Any]

_LOGGERS: Final = ("opensearch", "opensearchpy.trace")
_KIND: Final = re.compile(r"[a-z_]{1,80}")
_SERVICE: Final = "aoss"
_THROTTLED: Final = 429
_UNAVAILABLE: Final = frozenset({_THROTTLED, 500, 502, 503, 504})
_NOT_YET: Final = frozenset({403, 404})
"""Statuses that may pass: a collection's policies and indices take effect everywhere only after a while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Deadlines in seconds: for connecting, for one search, for one write, and for a write with all its retries."""

    connect: float = 0.5
    search: float = 1.0
    write: float = 10.0
    writes: float = 30.0


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """An OpenSearch endpoint. Safe to share between threads. The client library is imported at the first call.

    Args:
        endpoint: URL, with a scheme.
        generation: generation of OpenSearch Serverless, or `node`.
        region: region that requests are signed for; Serverless only.
        limits: deadlines of calls.
    """

    endpoint: str = field(repr=False)
    generation: Generation
    region: str = ""
    limits: Limits = Limits()
    _lock: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    @property
    def client_ids(self) -> bool:
        """Whether clients choose the ids of documents. Vector collections of Serverless choose them themselves."""
        return self.generation == "node"

    @property
    def engine(self) -> Literal["faiss", "lucene"]:
        """The engine of vector searches: Serverless supports faiss only, and Lucene needs no native library."""
        return "lucene" if self.generation == "node" else "faiss"

    def call(self, ask: Callable[[OpenSearch], ClusterAnswer]) -> ClusterAnswer:
        """Make one request with the client, without retries.

        Raises:
            IndexUnavailable: the cluster did not answer, or refused. The library's error is dropped, because it may
                hold the request.
        """
        try:
            with self._lock:
                client = self._client
            return ask(client)
        except _errors() as error:
            raise unavailable(error) from None

    def search(self, name: str, body: ClusterAnswer, seconds: float) -> ClusterAnswer:
        """Search an index or an alias.

        Raises:
            IndexUnavailable: as `call`; or only a part of the index answered. Comparisons and erasure checks would
                take the missing entries for deleted.
        """
        params = {"request_timeout": self.patience(seconds)}
        answer = self.call(lambda client: _answer(client.search(body=body, index=name, params=params)))
        if "hits" not in answer or answer.get("timed_out") or answer.get("_shards", {}).get("failed"):
            raise IndexUnavailable("partial")
        return answer

    def request(self, method: str, path: str, body: ClusterAnswer | None = None) -> ClusterAnswer:
        """Make a request for which the library has no method. Raises as `call` does."""
        patience = self.patience(self.limits.write)
        return self.call(
            lambda client: _answer(client.transport.perform_request(method, path, body=body, timeout=patience))
        )

    def patience(self, seconds: float) -> Any:
        """Return a deadline as a timeout of the client."""
        from urllib3 import Timeout

        return Timeout(connect=min(self.limits.connect, seconds), read=seconds)

    @cached_property
    def _client(self) -> OpenSearch:
        from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth

        for name in _LOGGERS:
            # At DEBUG these write whole requests, at WARNING their addresses.
            logging.getLogger(name).setLevel(logging.CRITICAL)
        signer = None
        if self.generation != "node":
            from boto3.session import Session

            signer = Urllib3AWSV4SignerAuth(Session().get_credentials(), self.region, _SERVICE)
        return OpenSearch(
            hosts=[self.endpoint],
            http_auth=signer,
            timeout=self.patience(self.limits.search),
            max_retries=0,
            pool_maxsize=10,
        )


def unavailable(error: Exception) -> IndexUnavailable:
    """Return the port's error for an error of the client."""
    from opensearchpy import ConnectionError as Unreachable
    from opensearchpy import ConnectionTimeout, TransportError

    if isinstance(error, ConnectionTimeout):
        return IndexUnavailable("timeout")
    if isinstance(error, Unreachable):
        return IndexUnavailable("unreachable")
    if isinstance(error, TransportError):
        status = error.status_code if isinstance(error.status_code, int) else 0
        return refusal(status, str(error.error))
    return IndexUnavailable(type(error).__name__)


def refusal(status: int, kind: str) -> IndexUnavailable:
    """Return the port's error for a refusal, with its status and the machine-readable kind."""
    # A text that is not the name of a kind may hold words of the request.
    named = kind if _KIND.fullmatch(kind) else ""
    reason = "throttled" if status == _THROTTLED else f"{status} {named}".rstrip()
    return IndexUnavailable(reason, retriable=status in _UNAVAILABLE | _NOT_YET)


def is_passing(status: int) -> bool:
    """Tell whether a refused document may be retried."""
    return status in _UNAVAILABLE


def _answer(answer: Any) -> ClusterAnswer:
    return answer if isinstance(answer, dict) else {}


def _errors() -> tuple[type[Exception], ...]:
    from opensearchpy import OpenSearchException

    # Without credentials the signer raises ValueError.
    return OpenSearchException, *aws_errors(), ValueError
