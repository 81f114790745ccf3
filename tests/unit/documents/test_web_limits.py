"""What a hostile server achieves: bodies without end, broken HTTP, and answers that take their time."""

from __future__ import annotations

import gzip
import socket
import tracemalloc
from collections.abc import Iterator
from threading import Event

import pytest

from fencepost.documents.fetching.pinned_http import Network, Timeouts
from fencepost.documents.fetching.web import MAX_DOCUMENT_BYTES, WebDocumentFetcher
from fencepost.kernel.errors import DocumentsUnreachable
from fencepost.kernel.ports import Validators
from tests.unit.documents.loopback_server import LoopbackServer, Reply, raw, reply, running

NOTHING = Validators()
GUIDE = "# Guide\n"


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with running() as started:
        yield started


def text_at(url: str, limit: int = MAX_DOCUMENT_BYTES) -> str:
    document = WebDocumentFetcher(allow_loopback=True, limit=limit).fetch(url, NOTHING)
    assert document is not None
    return document.text


def reason_at(url: str, limit: int = MAX_DOCUMENT_BYTES) -> str:
    with pytest.raises(DocumentsUnreachable) as caught:
        text_at(url, limit)
    return caught.value.reason


# Size


def test_the_bound_is_twenty_megabytes() -> None:
    assert MAX_DOCUMENT_BYTES == 20_000_000


@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_the_bound_counts_decoded_bytes_exactly(server: LoopbackServer, coding: str) -> None:
    body = b"a" * 100_000
    sent = gzip.compress(body) if coding == "gzip" else body
    url = server.serve(reply(sent, Content_Encoding=coding))
    assert len(text_at(url, limit=100_000)) == 100_000
    assert reason_at(url, limit=99_999) == "too_large"


def test_a_gzip_bomb_is_not_unpacked(server: LoopbackServer) -> None:
    url = server.serve(reply(gzip.compress(b"a" * 50_000_000, compresslevel=1), Content_Encoding="gzip"))
    tracemalloc.start()
    try:
        assert reason_at(url, limit=1_000_000) == "too_large"
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_an_endless_body_is_hung_up_on(server: LoopbackServer) -> None:
    def endless(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            connection.sendall(b"a" * 65_536)

    assert reason_at(server.serve(endless), limit=1_000_000) == "too_large"
    assert server.abandoned.wait(30)


# Broken HTTP


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"\0" * 100,
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1_000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 " + b"y" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nfirst",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nfirst\r\n0\r\n\r\n",
    ],
)
def test_what_is_not_http_or_breaks_off_is_a_failure(server: LoopbackServer, content: bytes) -> None:
    assert reason_at(server.serve(raw(content))) == "connection"


@pytest.mark.parametrize(
    ("length", "text"),
    [("2", "ab"), ("-1", "abcd"), ("4x", "abcd"), ("0", "")],
    ids=["short", "negative", "no", "zero"],
)
def test_a_content_length_that_lies_never_adds_anything(server: LoopbackServer, length: str, text: str) -> None:
    assert text_at(server.serve(reply(b"abcd", Content_Length=length))) == text


# Time


def quick(total: float = 0.4) -> WebDocumentFetcher:
    return WebDocumentFetcher(allow_loopback=True, network=Network(timeouts=Timeouts(5, 5, total)))


def drip(prefix: bytes) -> Reply:
    def write(connection: socket.socket) -> None:
        connection.sendall(prefix)
        while True:
            connection.sendall(b"a")
            Event().wait(0.02)

    return write


@pytest.mark.parametrize(
    "prefix",
    [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"],
    ids=["status", "header", "body", "sized body"],
)
def test_a_drip_ends_at_the_deadline_and_is_hung_up_on(server: LoopbackServer, prefix: bytes) -> None:
    with pytest.raises(DocumentsUnreachable, match="timeout"):
        quick().fetch(server.serve(drip(prefix)), NOTHING)
    assert server.abandoned.wait(30)


def test_silence_ends_at_the_read_timeout(server: LoopbackServer) -> None:
    url = server.serve(lambda connection: connection.recv(1))
    network = Network(timeouts=Timeouts(connect=5, read=0.2, total=60))
    with pytest.raises(DocumentsUnreachable, match="timeout"):
        WebDocumentFetcher(allow_loopback=True, network=network).fetch(url, NOTHING)


def test_a_slow_resolver_ends_at_the_deadline(server: LoopbackServer) -> None:
    answer = Event()

    def resolver(host: str, port: int) -> list[str]:
        answer.wait(30)
        return ["127.0.0.1"]

    network = Network(resolver=resolver, timeouts=Timeouts(5, 5, 0.2))
    with pytest.raises(DocumentsUnreachable, match="timeout"):
        WebDocumentFetcher(allow_loopback=True, network=network).fetch(server.serve(reply(GUIDE)), NOTHING)
    answer.set()
    assert server.abandoned.wait(30)
    assert server.requests == [], "nobody is waiting any more"
