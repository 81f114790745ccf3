"""An HTTP connection to a host whose every resolved address was checked first.

The name is resolved once, by us; the socket then goes to a checked address and not to the name, so that a second
look-up cannot lead elsewhere (DNS rebinding). TLS still proves the name. `http.client` lets us open the socket
ourselves; the pools of urllib3 and httpx resolve the name again.
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
"""Turns a host name and a port into address literals. Raises `OSError`."""
Dial = Callable[[str, int, float], socket.socket]
"""Connects to an address literal and a port, within seconds. Raises `OSError`."""

_PORTS = {"http": 80, "https": 443}
# Everything that has a meaning in a path or a query, and `%`: what is escaped already stays as it is.
_SAFE = "%/:=&?~+!$,;'@()*[]"
_MAX_ATTEMPTS = 3


def system_resolver(host: str, port: int) -> Sequence[str]:
    """Resolve with the operating system, IPv4 and IPv6."""
    return [str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def system_dial(address: str, port: int, seconds: float) -> socket.socket:
    """Connect with TCP."""
    return socket.create_connection((address, port), seconds)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds for one connection attempt, for one wait on the socket, and for everything together."""

    connect: float = 1.5
    read: float = 2.0
    total: float = 4.0


@dataclass(frozen=True, slots=True)
class Network:
    """How hosts are resolved and reached. `tls` makes the context of an https connection.

    The timeouts are short: a visitor waits, and the provider's call comes after, all within the gateway's 29 seconds.
    """

    resolver: Resolver = system_resolver
    dial: Dial = system_dial
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context
    timeouts: Timeouts = Timeouts()


DEFAULT_NETWORK = Network()


@dataclass(frozen=True, slots=True)
class Target:
    """Where one request goes: a parsed http(s) address. `path` is escaped and includes the query."""

    scheme: str
    host: str
    port: int
    path: str


def parse_target(url: str) -> Target:
    """Parse an absolute address.

    Raises:
        DocumentsUnreachable: `bad_url` when it is not http(s), names no host, or carries credentials.
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
    """Resolve a `Location` header against the address that sent it.

    Raises:
        DocumentsUnreachable: `bad_redirect` when there is none, `insecure_redirect` when it leaves TLS.
    """
    if not location:
        raise DocumentsUnreachable("bad_redirect")
    # http.client reads headers as Latin-1; browsers take the bytes of a Location for UTF-8.
    try:
        target = urljoin(url, location.encode("latin-1").decode("utf-8"))
    except ValueError:
        raise DocumentsUnreachable("bad_redirect") from None
    if urlsplit(url).scheme == "https" and urlsplit(target).scheme == "http":
        raise DocumentsUnreachable("insecure_redirect")
    return target


def checked_addresses(target: Target, resolver: Resolver, *, allow_loopback: bool) -> Sequence[str]:
    """Resolve a target's host.

    A name with one refused address among good ones is refused: honest sites have no such names.

    Raises:
        DocumentsUnreachable: `address_refused`, or `dns` when there is no address at all.
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


class RequestLine:
    """The one socket that is open for a fetch, so that another thread can cut it when time is up."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._is_cut = False

    def use(self, opened: socket.socket) -> None:
        """Take note of the socket in use.

        Raises:
            TimeoutError: the line was cut meanwhile.
        """
        self._socket = opened
        if self._is_cut:
            raise TimeoutError

    def cut(self) -> None:
        """End whatever the socket is waiting for, and refuse the next one."""
        self._is_cut = True
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


class PinnedConnection(HTTPConnection):
    """A connection to one of the given addresses; the host name serves the `Host` header and TLS only."""

    def __init__(self, target: Target, addresses: Sequence[str], network: Network, line: RequestLine) -> None:
        super().__init__(target.host, target.port)
        self.default_port = _PORTS[target.scheme]
        self._is_secure = target.scheme == "https"
        self._addresses = addresses
        self._network = network
        self._line = line

    def connect(self) -> None:
        """Open the socket, and TLS on it where the scheme asks for it."""
        self.sock = self._first_that_answers()
        self.sock.settimeout(self._network.timeouts.read)
        self._line.use(self.sock)
        if self._is_secure:
            context = self._network.tls()
            secured = context.wrap_socket(self.sock, server_hostname=self.host, do_handshake_on_connect=False)
            self.sock = secured
            self._line.use(secured)
            secured.do_handshake()

    def _first_that_answers(self) -> socket.socket:
        *others, last = self._addresses[:_MAX_ATTEMPTS]
        for address in others:
            with suppress(OSError):
                return self._dial(address)
        return self._dial(last)

    def _dial(self, address: str) -> socket.socket:
        return self._network.dial(address, self.port, self._network.timeouts.connect)
