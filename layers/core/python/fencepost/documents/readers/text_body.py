"""Decodes the body of an HTTP response, block by block, and stops at a size limit."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Collection, Iterable, Iterator
from http.client import HTTPResponse, IncompleteRead
from itertools import chain
from typing import Protocol

from fencepost.kernel.errors import DocumentsUnreachable

_BLOCK_BYTES = 65_536
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
# Plain file hosts send `application/octet-stream` for any file; the content decides.
TEXT_TYPES = frozenset({"application/octet-stream", "application/markdown"})
_HTML_STARTS = ("<!doctype html", "<html")
# Labels of the WHATWG Encoding standard that sites use. Other labels are read as UTF-8.
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
# Where browsers look for a charset (HTML Standard, "Determining the character encoding"), in both of its forms.
_META_CHARSET = re.compile(rb"<meta[^>]+?charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_META_BYTES = 1_024


class _Readable(Protocol):
    def read1(self, size: int, /) -> bytes: ...


def read_text(response: HTTPResponse, limit: int, types: Collection[str] = TEXT_TYPES, *, html: bool = False) -> str:
    """Return the text of a body.

    Bytes that are invalid in the charset become U+FFFD, since one bad byte on a page should not take a whole site
    offline. A file with more than 1 % of them, or with a NUL, is not text. The charset is that of the header if it is
    known, else, for HTML, that of the page's `meta` element, else UTF-8. A byte order mark is dropped.

    Args:
        response: its head has been read; `http.client` bounds the number and length of headers.
        limit: maximum number of decompressed bytes.
        types: media types that are accepted as text, besides `text/…`.
        html: whether HTML is accepted.

    Raises:
        DocumentsUnreachable: `html`, `not_text`, `bad_encoding`, `too_large`; `connection`, the body is incomplete.
        OSError: the network failed.
        HTTPException: the server does not follow HTTP.
    """
    media_type, accepted = response.headers.get_content_type(), {*types, *_HTML_TYPES} if html else types
    if media_type in _HTML_TYPES and media_type not in accepted:
        raise DocumentsUnreachable("html")
    if not media_type.startswith("text/") and media_type not in accepted:
        raise DocumentsUnreachable("not_text")
    blocks = _bounded(_blocks(response), limit)
    first = next(blocks, b"")
    declared = _META_CHARSET.search(first, 0, _META_BYTES) if html else None
    label = response.headers.get_content_charset() or (declared[1].decode("ascii").lower() if declared else "utf-8")
    text = _decoded(chain([first], blocks), codec_of(label))
    return _checked(text.removeprefix("\ufeff"), html=html)


def codec_of(label: str) -> str:
    """Return the codec of a charset's label; UTF-8 for an unknown label."""
    return _CODECS.get(label.lower(), "utf-8")


def _blocks(response: HTTPResponse) -> Iterator[bytes]:
    """Yield the decompressed body in blocks, which stay small however far a few bytes expand."""
    body = _decompressed(response)
    try:
        while block := body.read1(_BLOCK_BYTES):
            yield block
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DocumentsUnreachable("connection") from error
    if response.length:  # http.client does not report a body that ends early
        raise IncompleteRead(b"", response.length)


def _decompressed(response: HTTPResponse) -> _Readable:
    coding = response.getheader("Content-Encoding", "identity").strip().lower()
    if coding == "identity":
        return response
    if coding in ("gzip", "x-gzip"):
        return gzip.GzipFile(fileobj=response)
    raise DocumentsUnreachable("bad_encoding")


def _bounded(blocks: Iterator[bytes], limit: int) -> Iterator[bytes]:
    total = 0
    for block in blocks:
        total += len(block)
        if total > limit:
            raise DocumentsUnreachable("too_large")
        yield block


def _decoded(blocks: Iterable[bytes], codec: str) -> str:
    decoder = codecs.getincrementaldecoder(codec)("replace")
    texts = [decoder.decode(block) for block in blocks]
    return "".join([*texts, decoder.decode(b"", final=True)])


def _checked(text: str, *, html: bool) -> str:
    if not html and text.lstrip()[:14].lower().startswith(_HTML_STARTS):
        raise DocumentsUnreachable("html")
    if "\0" in text or text.count("\ufffd") > _MAX_REPLACED_SHARE * len(text):
        raise DocumentsUnreachable("not_text")
    return text
