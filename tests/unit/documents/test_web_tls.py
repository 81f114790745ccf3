"""A pinned connection still proves the name: the certificate is checked against the host, not the address."""

from __future__ import annotations

import ssl
from collections.abc import Callable

import pytest

from fencepost.documents.fetching.pinned_http import Network, Timeouts
from fencepost.documents.fetching.web import WebDocumentFetcher
from fencepost.kernel.errors import DocumentsUnreachable
from fencepost.kernel.ports import Validators
from tests.unit.documents.loopback_server import Reply, reply, running

trustme = pytest.importorskip("trustme", reason="certificates are made by trustme")

GUIDE = "# Guide\n"
AUTHORITY = trustme.CA()


def server_context(*names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert(*names).configure_cert(context)
    return context


def trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    return context


def fetch(
    certificate: str,
    host: str = "docs.localhost",
    tls: Callable[[], ssl.SSLContext] = trusting,
    content: Reply | None = None,
    total: float = 10,
) -> str:
    with running(tls=server_context(certificate)) as server:
        server.serve(content or reply(GUIDE))
        network = Network(lambda name, port: ["127.0.0.1"], tls=tls, timeouts=Timeouts(5, 5, total))
        fetcher = WebDocumentFetcher(allow_loopback=True, network=network)
        document = fetcher.fetch(server.url(host=host), Validators())
    assert document is not None
    return document.text


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(DocumentsUnreachable) as caught:
        call()
    return caught.value.reason


@pytest.mark.parametrize("host", ["docs.localhost", "DOCS.localhost", "docs.localhost."])
def test_a_certificate_for_the_name_is_accepted(host: str) -> None:
    assert fetch("docs.localhost", host) == GUIDE


def test_a_certificate_for_an_address_literal_is_accepted() -> None:
    assert fetch("127.0.0.1", "127.0.0.1") == GUIDE


@pytest.mark.parametrize("certificate", ["other.localhost", "127.0.0.1", "localhost"])
def test_a_certificate_for_another_name_is_refused(certificate: str) -> None:
    assert refusal(lambda: fetch(certificate)) == "tls"


def test_an_unknown_authority_is_refused() -> None:
    assert refusal(lambda: fetch("docs.localhost", tls=ssl.create_default_context)) == "tls"


def test_a_redirect_out_of_tls_is_refused() -> None:
    moved = reply(status="302 Found", Location="http://localhost:9/llms-full.txt")
    assert refusal(lambda: fetch("docs.localhost", content=moved)) == "insecure_redirect"


def test_a_server_that_never_finishes_the_handshake_is_left_at_the_deadline() -> None:
    with running() as server:  # plain TCP: it waits for a request that never comes
        network = Network(lambda name, port: ["127.0.0.1"], tls=trusting, timeouts=Timeouts(5, 5, 0.3))
        url = server.url().replace("http:", "https:")
        fetcher = WebDocumentFetcher(allow_loopback=True, network=network)
        assert refusal(lambda: fetcher.fetch(url, Validators())) == "timeout"
        assert server.abandoned.wait(30)


def test_a_drip_over_tls_is_left_at_the_deadline() -> None:
    def drip(connection: object) -> None:
        assert isinstance(connection, ssl.SSLSocket)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            connection.sendall(b"a")

    assert refusal(lambda: fetch("docs.localhost", content=drip, total=0.5)) in ("timeout", "too_large")
