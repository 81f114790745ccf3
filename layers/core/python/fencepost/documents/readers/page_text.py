"""Turns documents into canonical text: HTML pages, PDF and text files, whatever they are said to be."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final, override

from fencepost.documents.domain.documents import MAX_DOCUMENT_BYTES, MAX_TEXT_CHARACTERS, DocumentKind
from fencepost.documents.ports import DocumentReader, Readable
from fencepost.documents.readers import html_worker, pdf_worker
from fencepost.documents.readers.bounded_child import ChildFailed, ChildTooLarge, read_in_child
from fencepost.documents.readers.text_body import codec_of
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.links import plain_text
from fencepost.kernel.markdown import MarkdownLine, scan
from fencepost.kernel.text import legible, normalise

MAX_HTML_BYTES: Final = 5_000_000
"""Of a page. Larger ones are made by machines for machines."""
MAX_PDF_PAGES: Final = 2_000
SECONDS: Final = 30.0
"""For a page or a PDF."""

_LOOKED_AT: Final = 1_024
_TITLE_LINES: Final = 100
_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_MARKDOWN_TYPES: Final = frozenset({"text/markdown", "text/x-markdown", "application/markdown"})
_ANY_TYPES: Final = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_PDF: Final = b"%PDF-"
_HTML: Final = re.compile(
    rb"\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype html|html[\s>]|head[\s>]|body[\s>])", re.IGNORECASE | re.DOTALL
)
_META: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([\w-]{1,40})", re.IGNORECASE)
_PARAMETER: Final = re.compile(r";\s*charset\s*=\s*\"?([\w-]{1,40})", re.IGNORECASE)
_BLANK_LINES: Final = re.compile(r"\n{4,}")


@dataclass(frozen=True, slots=True)
class ReadableText:
    """What is written in a document: `kind` as its content shows; title and language empty where none is told."""

    kind: DocumentKind
    title: str
    language: str
    text: str


def readable(raw: bytes, content_type: str, seconds: float = SECONDS) -> ReadableText:
    """Return what is written in a document.

    Args:
        raw: as it came.
        content_type: as somebody says, with or without a charset; the content itself decides what it is.
        seconds: for a page or a PDF.

    Raises:
        FencepostError: `document_type_unsupported`, it is no text, page or PDF; `document_too_large`;
            `document_unreadable`, it is damaged, empty or takes too long.
    """
    kind = kind_of(raw, content_type)
    charset = _PARAMETER.search(content_type)
    written = _read(raw, kind, charset[1] if charset else "", seconds)
    return ReadableText(kind, written.title, written.language, written.text)


def kind_of(raw: bytes, content_type: str) -> DocumentKind:
    """Tell what a document is, by its first bytes and else by what it is said to be.

    Raises:
        FencepostError: `document_type_unsupported`.
    """
    said = content_type.partition(";")[0].strip().lower()
    if _PDF in raw[:_LOOKED_AT]:
        return DocumentKind.PDF
    if said in _HTML_TYPES or (said not in _MARKDOWN_TYPES and _HTML.match(raw[:_LOOKED_AT])):
        return DocumentKind.HTML
    if said in _MARKDOWN_TYPES:
        return DocumentKind.MARKDOWN
    if said.startswith("text/") or said in _ANY_TYPES:
        return DocumentKind.TEXT
    raise FencepostError(ErrorCode.DOCUMENT_TYPE_UNSUPPORTED)


class PageText(DocumentReader):
    """Implements `fencepost.documents.ports.DocumentReader`.

    Args:
        seconds: after which a page or a PDF counts as unreadable.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds

    @override
    def read(self, content: bytes, kind: DocumentKind) -> Readable:
        return _read(content, kind, "", self._seconds)


def _read(raw: bytes, kind: DocumentKind, charset: str, seconds: float) -> Readable:
    if len(raw) > (MAX_HTML_BYTES if kind is DocumentKind.HTML else MAX_DOCUMENT_BYTES):
        raise FencepostError(ErrorCode.DOCUMENT_TOO_LARGE)
    try:
        written = _written(raw, kind, charset, seconds)
    except ChildFailed:
        raise FencepostError(ErrorCode.DOCUMENT_UNREADABLE) from None
    except ChildTooLarge:
        raise FencepostError(ErrorCode.DOCUMENT_TOO_LARGE) from None
    if not written.text:
        raise FencepostError(ErrorCode.DOCUMENT_UNREADABLE)
    if len(written.text) > MAX_TEXT_CHARACTERS:
        raise FencepostError(ErrorCode.DOCUMENT_TOO_LARGE)
    return written


def _written(raw: bytes, kind: DocumentKind, charset: str, seconds: float) -> Readable:
    match kind:
        case DocumentKind.HTML:
            return _html(raw, charset, seconds)
        case DocumentKind.PDF:
            return _pdf(raw, seconds)
        case DocumentKind.MARKDOWN | DocumentKind.TEXT:
            text = _tidy(legible(_decoded(raw, charset)))
            return Readable(text, _title(scan(text)))


def _html(raw: bytes, charset: str, seconds: float) -> Readable:
    named = _META.search(raw[:_LOOKED_AT])
    text = _decoded(raw, charset or (named[1].decode() if named else "windows-1252"))
    said = json.loads(read_in_child(html_worker, text.encode(), seconds, MAX_TEXT_CHARACTERS))
    return Readable(_tidy(legible(said["text"])), said["title"], said["language"])


def _pdf(raw: bytes, seconds: float) -> Readable:
    # Fonts write ligatures and presentation forms, which are letters to whoever looks for them.
    text = _tidy(normalise(read_in_child(pdf_worker, raw, seconds, MAX_PDF_PAGES, MAX_TEXT_CHARACTERS)))
    return Readable(text, plain_text(text.partition("\n")[0]))


def _decoded(raw: bytes, charset: str) -> str:
    """Decode UTF-8, which nothing else looks like, or else what the text is said to be in. A NUL stands in no text."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = _said_to_be(raw, charset)
    if "\0" in text:
        raise FencepostError(ErrorCode.DOCUMENT_UNREADABLE)
    return text


def _said_to_be(raw: bytes, charset: str) -> str:
    try:
        return raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else codec_of(charset))
    except UnicodeDecodeError:
        raise FencepostError(ErrorCode.DOCUMENT_UNREADABLE) from None


def _tidy(text: str) -> str:
    text = _BLANK_LINES.sub("\n\n\n", text.strip())
    return f"{text}\n" if text else ""


def _title(lines: list[MarkdownLine]) -> str:
    """Return the first heading near the top, or the first line that says something."""
    first = lines[:_TITLE_LINES]
    named = next((line.heading for line in first if line.level), "")
    return plain_text(named or next((line.text for line in first if not line.blank), ""))
