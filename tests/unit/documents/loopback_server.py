"""A TCP server that says exactly what a test wants, including what no HTTP library would say."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread

Reply = Callable[[socket.socket], object]
"""Writes to the connection. What it raises when the client hangs up ends the connection."""


@dataclass(frozen=True, slots=True)
class Request:
    """The head of one request, as it came."""

    path: str
    head: str

    def header(self, name: str) -> str | None:
        """Return the header's value."""
        for line in self.head.split("\r\n")[1:]:
            key, _, value = line.partition(": ")
            if key.lower() == name.lower():
                return value
        return None


def reply(body: bytes | str = b"", status: str = "200 OK", **headers: str) -> Reply:
    """Make an honest reply; `Content_Type="…"` names a header. A header given as "" is left out."""
    content = body.encode() if isinstance(body, str) else body
    fields = {"Content-Type": "text/plain", "Content-Length": str(len(content))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
    return raw(f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + content)


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> Reply:
    """Make a reply whose body comes in these chunks."""
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks if chunk)
    return raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n" + body + end)


def raw(content: bytes) -> Reply:
    """Make a reply of exactly these bytes."""
    return lambda connection: connection.sendall(content)


class LoopbackServer:
    """Answers each path with its reply, and others with 404, one connection a request.

    Attributes:
        replies: by path.
        requests: what was asked, in order.
        abandoned: set when a client hung up while a reply was being written.
    """

    def __init__(self, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family)
        self._tls = tls
        self._host = f"[{host}]" if ":" in host else host
        self.port: int = self._listener.getsockname()[1]
        self.replies: dict[str, Reply] = {}
        self.requests: list[Request] = []
        self.abandoned = Event()

    def url(self, path: str = "/llms-full.txt", host: str | None = None) -> str:
        """Return the address of a path, under another host name if one is given."""
        return f"{'https' if self._tls else 'http'}://{host or self._host}:{self.port}{path}"

    def serve(self, content: Reply, path: str = "/llms-full.txt") -> str:
        """Answer a path from here on, and return its address."""
        self.replies[path] = content
        return self.url(path)

    def accept_all(self) -> None:
        """Serve until the listener is closed."""
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                Thread(target=self._converse, args=(connection,), daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _converse(self, plain: socket.socket) -> None:
        try:
            with self._tls.wrap_socket(plain, server_side=True) if self._tls else plain as connection:
                request = _read_request(connection)
                self.requests.append(request)
                self.replies.get(request.path, reply(status="404 Not Found"))(connection)
        except OSError:
            self.abandoned.set()


def _read_request(connection: socket.socket) -> Request:
    head = b""
    while b"\r\n\r\n" not in head:
        received = connection.recv(65_536)
        if not received:
            raise ConnectionResetError
        head += received
    text = head.decode("latin-1")
    return Request(text.split(" ")[1], text)


@contextmanager
def running(host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> Iterator[LoopbackServer]:
    """Run a server for the length of a block."""
    server = LoopbackServer(host, tls)
    Thread(target=server.accept_all, daemon=True).start()
    try:
        yield server
    finally:
        server.close()
