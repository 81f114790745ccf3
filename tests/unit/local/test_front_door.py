"""The front door before an API that only echoes: what it refuses, and that no request keeps its permit."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from local.front_door import Gateway
from local.parameters import CONCURRENCY
from tests.doubles.servers import serve

MEBIBYTE = 1024 * 1024
# More than there are permits: had each kept one, none would be left.
MANY = CONCURRENCY + 1


class Echo:
    """An API that answers with the body's length, counts the requests, and keeps the last path, decoded as usual."""

    def __init__(self) -> None:
        self.requests = 0
        self.path = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        self.requests += 1
        self.path = scope["path"]
        await PlainTextResponse(str(len(await request.body())))(scope, receive, send)


@dataclass
class Door:
    """A front door at `url` with the API behind it."""

    url: str
    gateway: Gateway
    api: Echo
    http: httpx.Client

    @property
    def free(self) -> bool:
        """Whether every permit is there, after a moment for what is about to end."""
        deadline = time.monotonic() + 10
        while self._permits() < CONCURRENCY and time.monotonic() < deadline:
            time.sleep(0.01)
        return self._permits() == CONCURRENCY

    def _permits(self) -> int:
        return self.gateway.turns._value

    def connect(self) -> socket.socket:
        parts = urlsplit(self.url)
        return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=10)


@pytest.fixture
def door() -> Iterator[Door]:
    api = Echo()
    gateway = Gateway(frozenset())
    with serve(api) as api_url, serve(gateway) as url, httpx.Client(base_url=url, trust_env=False) as http:
        gateway.hosts = frozenset([urlsplit(url).netloc])
        gateway.api_url = f"{api_url}/live"
        yield Door(url, gateway, api, http)


def head(door: Door, length: int) -> bytes:
    host = urlsplit(door.url).netloc
    return f"POST /api/ai-chat HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n".encode()


def refused(reply: httpx.Response, status: int, code: str) -> bool:
    body = reply.json()
    assert sorted(body) == ["code", "error", "requestId"]
    return (reply.status_code, body["code"]) == (status, code)


@pytest.mark.parametrize("target", ["/" + "a" * 50_000, "/?" + "a" * 50_000, "/" + "%41" * 16_000])
def test_a_path_that_is_too_long_is_refused_each_time(door: Door, target: str) -> None:
    for _ in range(MANY):
        assert refused(door.http.get(target), 414, "path_too_long")
    assert door.http.get("/health").status_code == 200


def test_what_is_no_url_is_refused_each_time(door: Door) -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def ask() -> int:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(b"host", urlsplit(door.url).netloc.encode())]
        scope = {"type": "http", "method": "GET", "raw_path": b"/\x07", "query_string": b"", "headers": headers}
        await door.gateway({**scope, "client": None}, receive, send)
        return int(sent[0]["status"])

    for _ in range(MANY):
        assert asyncio.run(ask()) == 400
    assert door.free


@pytest.mark.parametrize("path", ["/v1/things/a%2523b", "/v1/things/a%2Fb%23%3F", "/v1/things/a~b"])
def test_a_path_arrives_as_it_came_once_the_emulator_has_decoded_it(door: Door, path: str) -> None:
    assert door.http.get(path).status_code == 200
    assert door.api.path == f"/live{path}"


def test_a_client_that_leaves_while_it_sends_keeps_no_permit(door: Door) -> None:
    for _ in range(MANY):
        with door.connect() as leaving:
            leaving.sendall(head(door, 1000) + b"half of it")
    assert door.http.get("/health").status_code == 200
    assert door.free
    assert door.api.requests == 1


def test_a_client_that_stalls_while_it_sends_holds_up_nobody(door: Door) -> None:
    with contextlib.ExitStack() as stalled:
        for _ in range(MANY):
            stalled.enter_context(door.connect()).sendall(head(door, 1000))
        assert door.http.get("/health").status_code == 200


def test_a_body_at_the_limit_is_passed_on(door: Door) -> None:
    assert door.http.post("/", content=bytes(10 * MEBIBYTE)).text == str(10 * MEBIBYTE)


def test_a_body_that_is_declared_too_large_is_refused_unread(door: Door) -> None:
    with door.connect() as client:
        client.sendall(head(door, 10 * MEBIBYTE + 1))
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"code":"body_too_large"' in answer
    assert door.api.requests == 0


def test_a_body_without_a_declared_length_is_read_no_further_than_the_limit(door: Door) -> None:
    chunk = b"100000\r\n" + bytes(MEBIBYTE) + b"\r\n"
    with door.connect() as client:
        client.sendall(head(door, 0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked"))
        # The server hangs up while the client still sends.
        with contextlib.suppress(ConnectionError):
            for _ in range(1000):
                client.sendall(chunk)
            pytest.fail("a gigabyte was read")
    assert door.api.requests == 0
    assert door.free


def test_an_api_that_is_gone_keeps_no_permit(door: Door) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        door.gateway.api_url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    for _ in range(MANY):
        assert refused(door.http.get("/health"), 502, "unreachable")
    assert door.free


def test_an_api_that_is_too_slow_is_told_from_one_that_is_gone(door: Door) -> None:
    door.gateway.client = httpx.AsyncClient(timeout=httpx.Timeout(10, read=0.1), trust_env=False)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        door.gateway.api_url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        for _ in range(MANY):
            assert refused(door.http.get("/health"), 504, "timeout")
    assert door.free


class _OneAnswer(socketserver.StreamRequestHandler):
    """Keeps the connection open after an answer, and closes it just as another request arrives."""

    def handle(self) -> None:
        while self.rfile.readline() != b"\r\n":
            pass
        self.wfile.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        self.rfile.readline()


def test_an_api_that_closes_a_connection_when_it_would_be_used_again_loses_no_request(door: Door) -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _OneAnswer) as api:
        api.block_on_close = False
        threading.Thread(target=api.serve_forever, args=[0.01], daemon=True).start()
        door.gateway.api_url = f"http://127.0.0.1:{api.server_address[1]}"
        statuses = [door.http.post("/").status_code for _ in range(3)]
        api.shutdown()
    assert statuses == [204, 204, 204]
