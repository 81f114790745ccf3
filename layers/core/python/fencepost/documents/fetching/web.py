"""Fetches documents over HTTP, from hosts that are all treated as hostile.

`pinned_http` and `fencepost.documents.domain.networks` decide for every redirect which addresses may be connected to;
`text_body` limits the decompressed size, and `WebDocumentFetcher` the time.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from socket import gaierror
from typing import override

from fencepost import __version__
from fencepost.documents.domain.networks import names_this_machine
from fencepost.documents.fetching import pinned_http
from fencepost.documents.fetching.pinned_http import DEFAULT_NETWORK, Network, OpenSocket, PinnedConnection, Target
from fencepost.documents.readers.text_body import TEXT_TYPES, read_text
from fencepost.kernel.errors import DocumentsUnreachable
from fencepost.kernel.ports import DocumentFetcher, RawDocument, Validators

MAX_DOCUMENT_BYTES = 20_000_000
"""Decompressed size at which reading stops."""
MAX_REDIRECTS = 5

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Validators are sent as request headers and stored as metadata of the archive: short printable ASCII only.
_VALIDATOR = re.compile(r"[\x20-\x7e]{1,512}")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A kind of file to fetch, with the headers to ask for it.

    Attributes:
        name: name of the kind in the `User-Agent` header.
        accept: the `Accept` header.
        types: media types that are accepted as text, besides `text/…`.
        html: whether HTML is accepted. If not, it is assumed to be the site's page for missing files.
    """

    name: str
    accept: str
    types: frozenset[str]
    html: bool = False

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request."""
        return {
            "User-Agent": f"Fencepost/{__version__} (reads {self.name})",
            "Accept": self.accept,
            "Accept-Encoding": "gzip",
            "Connection": "close",
        }


DOCUMENTS = Wanted("llms-full.txt", "text/plain, text/markdown, text/*;q=0.5, */*;q=0.1", TEXT_TYPES)
KEY_SET = Wanted(
    "JSON Web Keys",
    "application/jwk-set+json, application/json",
    frozenset({"application/jwk-set+json", "application/json"}),
)
PAGE = Wanted(
    "pages",
    "text/html, application/xhtml+xml, text/markdown, text/plain;q=0.8, */*;q=0.1",
    TEXT_TYPES,
    html=True,
)
SITEMAP = Wanted("sitemap.xml", "application/xml, text/xml, */*;q=0.1", frozenset({"application/xml"}))


@dataclass(frozen=True, slots=True)
class _Hop:
    """One request of a fetch. `allow_loopback` becomes False with the first redirect to another machine."""

    url: str
    target: Target
    allow_loopback: bool


class WebDocumentFetcher(DocumentFetcher):
    """Fetches documents over HTTP.

    The reasons of its errors are `bad_url`, `dns`, `address_refused`, `connection`, `tls`, `timeout`, `status`,
    `bad_redirect`, `insecure_redirect`, `too_many_redirects`, `bad_encoding`, `html`, `not_text` and `too_large`.

    Args:
        allow_loopback: accept a site on this machine. Sites elsewhere cannot reach it, by redirects or by DNS.
        network: how hosts are resolved and connected to. Its total timeout holds for a whole fetch, with the resolver.
        limit: maximum number of decompressed bytes.
        wanted: the kind of file to fetch.
    """

    def __init__(
        self,
        *,
        allow_loopback: bool = False,
        network: Network = DEFAULT_NETWORK,
        limit: int = MAX_DOCUMENT_BYTES,
        wanted: Wanted = DOCUMENTS,
    ) -> None:
        self._allow_loopback = allow_loopback
        self._network = network
        self._limit = limit
        self._wanted = wanted

    @override
    def fetch(self, url: str, known: Validators) -> RawDocument | None:
        """Fetch on a separate thread and wait for it with the total timeout.

        The timeout of a socket restarts with each byte, and a resolver has none, so only a waiting thread can end a
        fetch in time.
        """
        open_socket = OpenSocket()
        work = self._start(url, _clean_validators(known.etag, known.last_modified), open_socket)
        try:
            return work.result(self._network.timeouts.total)
        except TimeoutError:
            open_socket.shut_down()
            raise DocumentsUnreachable("timeout") from None

    def _start(self, url: str, known: Validators, open_socket: OpenSocket) -> Future[RawDocument | None]:
        worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="documents")
        try:
            return worker.submit(self._fetch, url, known, open_socket)
        finally:
            worker.shutdown(wait=False)

    def _fetch(self, url: str, known: Validators, open_socket: OpenSocket) -> RawDocument | None:
        hop = self._hop(url, allow_loopback=self._allow_loopback)
        for _ in range(MAX_REDIRECTS + 1):
            addresses = pinned_http.checked_addresses(
                hop.target, self._network.resolver, allow_loopback=hop.allow_loopback
            )
            with (
                _network_errors_translated(),
                closing(PinnedConnection(hop.target, addresses, self._network, open_socket)) as connection,
                _ask(connection, hop.target, self._wanted.headers, known) as response,
            ):
                if response.status not in _REDIRECTS:
                    return self._read(response, known)
            hop = self._next(hop, response)
        raise DocumentsUnreachable("too_many_redirects")

    def _hop(self, url: str, *, allow_loopback: bool) -> _Hop:
        target = pinned_http.parse_target(url)
        return _Hop(url, target, allow_loopback and names_this_machine(target.host))

    def _next(self, hop: _Hop, response: HTTPResponse) -> _Hop:
        url = pinned_http.redirected(hop.url, response.getheader("Location"))
        return self._hop(url, allow_loopback=hop.allow_loopback)

    def _read(self, response: HTTPResponse, known: Validators) -> RawDocument | None:
        if response.status == HTTPStatus.NOT_MODIFIED and known != Validators():
            return None
        if response.status != HTTPStatus.OK:
            raise DocumentsUnreachable("status")
        return RawDocument(
            read_text(response, self._limit, self._wanted.types, html=self._wanted.html),
            _clean_validators(response.headers["ETag"], response.headers["Last-Modified"]),
            response.headers.get_content_type(),
        )


def _ask(connection: PinnedConnection, target: Target, headers: Mapping[str, str], known: Validators) -> HTTPResponse:
    conditions = {"If-None-Match": known.etag, "If-Modified-Since": known.last_modified}
    present = {name: value for name, value in conditions.items() if value is not None}
    connection.request("GET", target.path, headers={**headers, **present})
    return connection.getresponse()


def _clean_validators(etag: str | None, last_modified: str | None) -> Validators:
    """Return validators without those unfit for a header. Without any, the next request is unconditional."""
    return Validators(*(value if value and _VALIDATOR.fullmatch(value) else None for value in (etag, last_modified)))


@contextmanager
def _network_errors_translated() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise DocumentsUnreachable("timeout") from error
    except gaierror as error:
        raise DocumentsUnreachable("dns") from error
    except ssl.SSLError as error:
        raise DocumentsUnreachable("tls") from error
    except (OSError, HTTPException) as error:
        raise DocumentsUnreachable("connection") from error
