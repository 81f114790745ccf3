"""Reading a site's file: what is sent, and which answers are text."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost import __version__
from fencepost.documents.fetching.web import PAGE, SITEMAP, WebDocumentFetcher
from fencepost.kernel.errors import DocumentsUnreachable
from fencepost.kernel.ports import RawDocument, Validators
from tests.unit.documents.loopback_server import LoopbackServer, chunked, raw, reply, running

NOTHING = Validators()
GUIDE = "# Guide\n\nLa clôture 柵 🌿\n"


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with running() as started:
        yield started


def fetch(url: str, known: Validators = NOTHING) -> RawDocument | None:
    return WebDocumentFetcher(allow_loopback=True).fetch(url, known)


def text_at(url: str) -> str:
    document = fetch(url)
    assert document is not None
    return document.text


def reason_at(url: str) -> str:
    with pytest.raises(DocumentsUnreachable) as caught:
        fetch(url)
    return caught.value.reason


# The request


def test_a_file_is_read_with_its_validators(server: LoopbackServer) -> None:
    url = server.serve(reply(GUIDE, ETag='W/"7"', Last_Modified="Sun, 01 Mar 2026 12:00:00 GMT"))
    assert fetch(url) == RawDocument(GUIDE, Validators('W/"7"', "Sun, 01 Mar 2026 12:00:00 GMT"))


def test_the_request_says_who_asks_and_nothing_else(server: LoopbackServer) -> None:
    fetch(server.serve(reply(GUIDE)))
    (request,) = server.requests
    assert request.head.startswith("GET /llms-full.txt HTTP/1.1\r\n")
    assert request.header("Host") == f"127.0.0.1:{server.port}"
    assert request.header("User-Agent") == f"Fencepost/{__version__} (reads llms-full.txt)"
    assert request.header("Accept-Encoding") == "gzip"
    for absent in ("If-None-Match", "If-Modified-Since", "Cookie", "Authorization", "Referer"):
        assert request.header(absent) is None


def test_an_unchanged_file_is_none(server: LoopbackServer) -> None:
    url = server.serve(reply(status="304 Not Modified", Content_Length=""))
    assert fetch(url, Validators('"7"', "Sun, 01 Mar 2026 12:00:00 GMT")) is None
    assert server.requests[0].header("If-None-Match") == '"7"'
    assert server.requests[0].header("If-Modified-Since") == "Sun, 01 Mar 2026 12:00:00 GMT"


def test_a_304_nobody_asked_for_is_a_failure(server: LoopbackServer) -> None:
    assert reason_at(server.serve(reply(status="304 Not Modified", Content_Length=""))) == "status"


@pytest.mark.parametrize("value", ['"1"\r\nX-Evil: 1', '"1"\nHost: evil', '"\0"', '"é"', '"柵"', "", "x" * 513])
def test_a_validator_unfit_for_a_header_is_not_sent(server: LoopbackServer, value: str) -> None:
    assert fetch(server.serve(reply(GUIDE)), Validators(value, value)) == RawDocument(GUIDE, NOTHING)
    assert "If-" not in server.requests[0].head
    assert "vil" not in server.requests[0].head


@pytest.mark.parametrize("value", [b'"a\r\n folded"', b'"\xc3\xa9"', b'"\0"', b"x" * 513, b'"\x1b[2J"'])
def test_a_validator_unfit_for_a_header_is_not_kept(server: LoopbackServer, value: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nETag: " + value + b"\r\nContent-Length: 2\r\n\r\n"
    assert fetch(server.serve(raw(head + b"ok"))) == RawDocument("ok", NOTHING)


@pytest.mark.parametrize("status", ["204 No Content", "206 Partial Content", "300 Multiple Choices", "403 Forbidden"])
def test_any_status_but_200_is_a_failure(server: LoopbackServer, status: str) -> None:
    assert reason_at(server.serve(reply(GUIDE, status))) == "status"


@pytest.mark.parametrize("status", ["404 Not Found", "410 Gone", "429 Too Many Requests", "500 Oops", "503 Busy"])
def test_an_error_page_is_never_a_document(server: LoopbackServer, status: str) -> None:
    assert reason_at(server.serve(reply(GUIDE, status))) == "status"


# Its encodings


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "x-gzip", " gzip "])
def test_gzip_is_decoded(server: LoopbackServer, coding: str) -> None:
    assert text_at(server.serve(reply(gzip.compress(GUIDE.encode()), Content_Encoding=coding))) == GUIDE


def test_gzip_of_several_members_is_decoded(server: LoopbackServer) -> None:
    body = gzip.compress(b"one ") + gzip.compress(b"two")
    assert text_at(server.serve(reply(body, Content_Encoding="gzip"))) == "one two"


@pytest.mark.parametrize("coding", ["br", "deflate", "zstd", "gzip, gzip", "compress", "\0"])
def test_a_coding_that_was_not_asked_for_is_refused(server: LoopbackServer, coding: str) -> None:
    assert reason_at(server.serve(reply(b"x", Content_Encoding=coding))) == "bad_encoding"


@pytest.mark.parametrize(
    "body", [gzip.compress(GUIDE.encode(), mtime=0)[:-9], b"not gzip", b"\x1f\x8b\x08", b"\x1f\x8b" * 9]
)
def test_broken_gzip_is_a_failure(server: LoopbackServer, body: bytes) -> None:
    assert reason_at(server.serve(reply(body, Content_Encoding="gzip"))) == "connection"


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("utf-8", "utf-8"),
        ("UTF-8", "utf-8-sig"),
        ('"utf-8"', "utf-8"),
        ("shift_jis", "cp932"),
        ("EUC-JP", "euc_jp"),
        ("iso-2022-jp", "iso2022_jp"),
        ("gb18030", "gb18030"),
        ("utf-16", "utf-16"),
        ("utf-16le", "utf-16-le"),
        ("x-unknown", "utf-8"),
        ("zlib", "utf-8"),
        ("unicode_escape", "utf-8"),
        ("../../etc/passwd", "utf-8"),
        ("x" * 9_999, "utf-8"),
    ],
)
def test_the_charset_of_the_header(server: LoopbackServer, label: str, codec: str) -> None:
    text = "# 柵の杭\n\nかきね"
    assert text_at(server.serve(reply(text.encode(codec), Content_Type=f"text/plain; charset={label}"))) == text


def test_latin_1_is_windows_1252_as_in_browsers(server: LoopbackServer) -> None:
    url = server.serve(reply(b"caf\xe9 \x93quoted\x94", Content_Type="text/plain; charset=ISO-8859-1"))
    assert text_at(url) == "café “quoted”"


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_characters="\0\ufeff\ufffd", codec="utf-8")), st.lists(st.integers(0, 400)))
def test_any_text_survives_any_division_into_chunks(text: str, cuts: list[int]) -> None:
    content = f"# Guide\n{text}".encode()
    edges = sorted({0, len(content), *(cut for cut in cuts if cut < len(content))})
    with running() as server:
        url = server.serve(chunked(*(content[start:end] for start, end in pairwise(edges))))
        assert text_at(url) == content.decode()


# What is no text


def test_a_few_invalid_bytes_are_replaced(server: LoopbackServer) -> None:
    assert text_at(server.serve(reply(b"a" * 200 + b"\xff" + b"b" * 200))) == "a" * 200 + "\ufffd" + "b" * 200


def test_a_character_cut_off_at_the_end_is_replaced(server: LoopbackServer) -> None:
    assert text_at(server.serve(reply(b"a" * 200 + "柵".encode()[:2]))) == "a" * 200 + "\ufffd"


@pytest.mark.parametrize("body", [b"ok\0", b"\xff\xfe\xfd\xfc", b"PK\x03\x04\0\0", "柵の杭".encode("cp932") * 99])
def test_binary_content_is_refused(server: LoopbackServer, body: bytes) -> None:
    assert reason_at(server.serve(reply(body))) == "not_text"


@pytest.mark.parametrize("media_type", ["image/png", "application/pdf", "application/json", "multipart/mixed"])
def test_other_media_types_are_refused(server: LoopbackServer, media_type: str) -> None:
    assert reason_at(server.serve(reply(GUIDE, Content_Type=media_type))) == "not_text"


@pytest.mark.parametrize("media_type", ["text/markdown", "TEXT/PLAIN", "text/x-web-markdown", "", "nonsense"])
def test_text_types_and_none_are_accepted(server: LoopbackServer, media_type: str) -> None:
    assert text_at(server.serve(reply(GUIDE, Content_Type=media_type))) == GUIDE


@pytest.mark.parametrize("media_type", ["text/html", "Text/HTML; charset=utf-8", "application/xhtml+xml"])
def test_html_is_refused(server: LoopbackServer, media_type: str) -> None:
    assert reason_at(server.serve(reply("# no", Content_Type=media_type))) == "html"


@pytest.mark.parametrize(
    "body", ["<!DOCTYPE html><p>", "\ufeff\n <html lang=en>", "<HTML>", "\n<!doctype HTML SYSTEM>"]
)
def test_html_under_another_name_is_refused(server: LoopbackServer, body: str) -> None:
    assert reason_at(server.serve(reply(body))) == "html"


def test_markdown_that_shows_html_is_text(server: LoopbackServer) -> None:
    body = "# Pages\n\n```html\n<!doctype html>\n```\n"
    assert text_at(server.serve(reply(body))) == body


# Pages


def page_at(url: str, known: Validators = NOTHING) -> RawDocument:
    document = WebDocumentFetcher(allow_loopback=True, wanted=PAGE).fetch(url, known)
    assert document is not None
    return document


def test_a_page_may_be_html_and_says_what_it_came_as(server: LoopbackServer) -> None:
    html = "<!DOCTYPE html><title>柵</title>"
    page = page_at(server.serve(reply(html, Content_Type="text/html; charset=utf-8"), "/guide"))
    assert (page.text, page.media_type) == (html, "text/html")
    assert page_at(server.serve(reply(GUIDE, Content_Type="text/markdown"), "/guide.md")).media_type == "text/markdown"
    assert "text/html" in (server.requests[0].header("Accept") or "")


@pytest.mark.parametrize(
    "meta",
    [
        '<meta charset="shift_jis">',
        "<META CHARSET=Shift_JIS>",
        "<meta http-equiv=x content='text/html; charset=shift_jis'>",
    ],
)
def test_a_page_is_in_the_charset_that_it_declares_where_its_header_names_none(
    server: LoopbackServer, meta: str
) -> None:
    html = f"<!doctype html>{meta}<p>はじめに"
    page = page_at(server.serve(reply(html.encode("cp932"), Content_Type="text/html"), "/guide"))
    assert page.text == html


def test_a_header_wins_over_a_pages_own_charset(server: LoopbackServer) -> None:
    html = '<meta charset="shift_jis"><p>はじめに'
    page = page_at(server.serve(reply(html, Content_Type="text/html; charset=utf-8"), "/guide"))
    assert page.text == html


def test_a_sitemap_is_xml_and_no_page(server: LoopbackServer) -> None:
    sitemaps = WebDocumentFetcher(allow_loopback=True, wanted=SITEMAP)
    url = server.serve(reply("<urlset/>", Content_Type="application/xml"), "/sitemap.xml")
    assert sitemaps.fetch(url, NOTHING) == RawDocument("<urlset/>", NOTHING, "application/xml")
    with pytest.raises(DocumentsUnreachable, match="html"):
        sitemaps.fetch(server.serve(reply("<html>", Content_Type="text/html"), "/sitemap.xml"), NOTHING)
