"""Turns a response's body into text, piece by piece, without ever holding more than was allowed."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Collection, Iterable, Iterator
from http.client import HTTPMessage, HTTPResponse, IncompleteRead
from itertools import chain
from typing import Protocol

from fencepost.kernel.errors import DocumentsUnreachable

_PIECE_BYTES = 65_536
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
# `application/octet-stream` is what plain file hosts say about any file; its content decides.
TEXT_TYPES = frozenset({"application/octet-stream", "application/markdown"})
_HTML_STARTS = ("<!doctype html", "<html")
# Labels of the WHATWG Encoding standard that are met in the wild. A label outside the table is read as UTF-8.
_CODECS = {
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "windows-1252": "cp1252",
    "iso-8859-15": "iso8859-15",
    "windows-1251": "cp1251",
    "koi8-r": "koi8-r",
    "shift_jis": "cp932",
    "euc-jp": "euc_jp",
    "iso-2022-jp": "iso2022_jp",
    "euc-kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "utf-16": "utf-16",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
}
_MAX_REPLACED_SHARE = 0.01
# Where browsers look for it (HTML Standard, "Determining the character encoding"), in both of its forms.
_META_CHARSET = re.compile(rb"<meta[^>]+?charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_META_BYTES = 1_024


class _Readable(Protocol):
    def read1(self, size: int, /) -> bytes: ...


def read_text(response: HTTPResponse, limit: int, types: Collection[str] = TEXT_TYPES, *, html: bool = False) -> str:
    """Read a body to its end.

    Bytes that are invalid in the charset become U+FFFD, since one bad byte in a page should not take a whole site
    offline; a file with more than 1 % of them, or with a NUL, is no text. The charset is the header's if it is a
    known one, in HTML without one that of its own `meta`, otherwise UTF-8; a byte order mark is dropped.

    Args:
        response: its head has been read; `http.client` bounds the number and length of headers.
        limit: decoded bytes.
        types: media types that are taken for text besides `text/…`.
        html: whether it may be HTML.

    Raises:
        DocumentsUnreachable: `html`, `not_text`, `bad_encoding`, `too_large`, or `connection` when the body is cut.
        OSError: the network failed; HTTPException: the other end does not speak HTTP.
    """
    _check_type(response.headers.get_content_type(), {*types, *_HTML_TYPES} if html else types)
    pieces = _bounded(_pieces(response), limit)
    first = next(pieces, b"")
    text = _decoded(chain([first], pieces), _codec(response.headers, first if html else b""))
    return _checked(text.removeprefix("\ufeff"), html=html)


def _check_type(media_type: str, types: Collection[str]) -> None:
    if media_type in _HTML_TYPES and media_type not in types:
        raise DocumentsUnreachable("html")
    if not media_type.startswith("text/") and media_type not in types:
        raise DocumentsUnreachable("not_text")


def codec_of(label: str) -> str:
    """Return the codec of a charset by its label; UTF-8 for one that is not in the table."""
    return _CODECS.get(label.lower(), "utf-8")


def _codec(headers: HTTPMessage, html: bytes) -> str:
    declared = _META_CHARSET.search(html, 0, _META_BYTES)
    label = headers.get_content_charset() or (declared[1].decode("ascii").lower() if declared else "utf-8")
    return codec_of(label)


def _pieces(response: HTTPResponse) -> Iterator[bytes]:
    """Yield the body decompressed, in small pieces however much a few bytes expand to."""
    try:
        yield from _read_to_end(_decompressed(response))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DocumentsUnreachable("connection") from error
    if response.length:  # http.client takes an early end of the stream for the end of the body
        raise IncompleteRead(b"", response.length)


def _read_to_end(body: _Readable) -> Iterator[bytes]:
    while piece := body.read1(_PIECE_BYTES):
        yield piece


def _decompressed(response: HTTPResponse) -> _Readable:
    coding = response.getheader("Content-Encoding", "identity").strip().lower()
    if coding == "identity":
        return response
    if coding in ("gzip", "x-gzip"):
        return gzip.GzipFile(fileobj=response)
    raise DocumentsUnreachable("bad_encoding")


def _bounded(pieces: Iterator[bytes], limit: int) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > limit:
            raise DocumentsUnreachable("too_large")
        yield piece


def _decoded(pieces: Iterable[bytes], codec: str) -> str:
    decoder = codecs.getincrementaldecoder(codec)("replace")
    texts = [decoder.decode(piece) for piece in pieces]
    return "".join([*texts, decoder.decode(b"", final=True)])


def _checked(text: str, *, html: bool) -> str:
    if not html and text.lstrip()[:14].lower().startswith(_HTML_STARTS):
        raise DocumentsUnreachable("html")
    if "\0" in text or text.count("\ufffd") > _MAX_REPLACED_SHARE * len(text):
        raise DocumentsUnreachable("not_text")
    return text
