"""HTTP connections to hosts whose resolved addresses have all been checked.

A name is resolved once, and the socket connects to a checked address instead of the name, so that a second look-up
cannot lead elsewhere (DNS rebinding). TLS still verifies the name. This uses `http.client`, which lets a subclass open
the socket; the connection pools of urllib3 and httpx resolve the name again.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from urllib.parse import quote, urljoin, urlsplit

from fencepost.documents.domain.networks import may_fetch
from fencepost.kernel.errors import DocumentsUnreachable

Resolver = Callable[[str, int], Sequence[str]]
"""Resolves a host name and a port to address literals. Raises `OSError`."""
Dial = Callable[[str, int, float], socket.socket]
"""Connects to an address literal and a port, with a timeout in seconds. Raises `OSError`."""

_PORTS = {"http": 80, "https": 443}
# Characters with a meaning in a path or a query, and `%`, so that escaped characters are not escaped again.
_SAFE = "%/:=&?~+!$,;'@()*[]"
_MAX_ATTEMPTS = 3


def system_resolver(host: str, port: int) -> Sequence[str]:
    """Resolve with the operating system, to IPv4 and IPv6 addresses."""
    return [str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def system_dial(address: str, port: int, seconds: float) -> socket.socket:
    """Connect with TCP."""
    return socket.create_connection((address, port), seconds)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds for one connection attempt, for one wait on the socket, and for a whole fetch."""

    connect: float = 1.5
    read: float = 2.0
    total: float = 4.0


@dataclass(frozen=True, slots=True)
class Network:
    """How hosts are resolved and connected to. `tls` makes the context of an https connection.

    The timeouts are short: a visitor waits, and the call to the model provider follows, all within the gateway's 29
    seconds.
    """

    resolver: Resolver = system_resolver
    dial: Dial = system_dial
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context
    timeouts: Timeouts = Timeouts()


DEFAULT_NETWORK = Network()


@dataclass(frozen=True, slots=True)
class Target:
    """A parsed http(s) address to send a request to. `path` is escaped and includes the query."""

    scheme: str
    host: str
    port: int
    path: str


def parse_target(url: str) -> Target:
    """Parse an absolute address.

    Raises:
        DocumentsUnreachable: `bad_url`, the address is not http(s), has no host, or contains credentials.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode("ascii").rstrip(".")
    except ValueError:
        raise DocumentsUnreachable("bad_url") from None
    if parts.scheme not in _PORTS or not host or "@" in parts.netloc:
        raise DocumentsUnreachable("bad_url")
    path = quote(parts.path or "/", safe=_SAFE) + (f"?{quote(parts.query, safe=_SAFE)}" if parts.query else "")
    return Target(parts.scheme, host, _PORTS[parts.scheme] if port is None else port, path)


def redirected(url: str, location: str | None) -> str:
    """Return the address that a `Location` header means, relative to the address that sent it.

    Raises:
        DocumentsUnreachable: `bad_redirect`, there is no such header or it is invalid; `insecure_redirect`, it leads
            from https to http.
    """
    if not location:
        raise DocumentsUnreachable("bad_redirect")
    # http.client decodes headers as Latin-1; browsers decode `Location` as UTF-8.
    try:
        target = urljoin(url, location.encode("latin-1").decode("utf-8"))
    except ValueError:
        raise DocumentsUnreachable("bad_redirect") from None
    if urlsplit(url).scheme == "https" and urlsplit(target).scheme == "http":
        raise DocumentsUnreachable("insecure_redirect")
    return target


def checked_addresses(target: Target, resolver: Resolver, *, allow_loopback: bool) -> Sequence[str]:
    """Return the addresses of a target's host. One refused address refuses the host: honest sites have none.

    Raises:
        DocumentsUnreachable: `address_refused`; or `dns`, the host has no address.
    """
    try:
        addresses = resolver(target.host, target.port)
    except (OSError, ValueError) as error:
        raise DocumentsUnreachable("dns") from error
    if not addresses:
        raise DocumentsUnreachable("dns")
    if not all(may_fetch(address, allow_loopback=allow_loopback) for address in addresses):
        raise DocumentsUnreachable("address_refused")
    return addresses


class OpenSocket:
    """The open socket of a fetch, which another thread can shut down when the fetch times out."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._is_shut = False

    def use(self, opened: socket.socket) -> None:
        """Remember the socket in use.

        Raises:
            TimeoutError: the fetch has timed out.
        """
        self._socket = opened
        if self._is_shut:
            raise TimeoutError

    def shut_down(self) -> None:
        """Shut the socket down, which ends any wait for it, and refuse further ones."""
        self._is_shut = True
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


class PinnedConnection(HTTPConnection):
    """A connection to one of the given addresses. The host name is used for the `Host` header and for TLS only."""

    def __init__(self, target: Target, addresses: Sequence[str], network: Network, open_socket: OpenSocket) -> None:
        super().__init__(target.host, target.port)
        self.default_port = _PORTS[target.scheme]
        self._is_secure = target.scheme == "https"
        self._addresses = addresses
        self._network = network
        self._open_socket = open_socket

    def connect(self) -> None:
        """Open the socket, with TLS for https."""
        self.sock = self._first_to_answer()
        self.sock.settimeout(self._network.timeouts.read)
        self._open_socket.use(self.sock)
        if self._is_secure:
            context = self._network.tls()
            secured = context.wrap_socket(self.sock, server_hostname=self.host, do_handshake_on_connect=False)
            self.sock = secured
            self._open_socket.use(secured)
            secured.do_handshake()

    def _first_to_answer(self) -> socket.socket:
        *others, last = self._addresses[:_MAX_ATTEMPTS]
        for address in others:
            with suppress(OSError):
                return self._dial(address)
        return self._dial(last)

    def _dial(self, address: str) -> socket.socket:
        return self._network.dial(address, self.port, self._network.timeouts.connect)
