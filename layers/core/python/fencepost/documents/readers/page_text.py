"""Converts documents to canonical text: HTML pages, PDF, Markdown and text files, by content rather than by label."""

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
"""Maximum size of an HTML page. Larger ones are generated and not meant for readers."""
MAX_PDF_PAGES: Final = 2_000
SECONDS: Final = 30.0
"""Timeout for a page or a PDF."""

_HEAD_BYTES: Final = 1_024
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
    """The text of a document, its kind as its content shows, and its title and language; empty if it states none."""

    kind: DocumentKind
    title: str
    language: str
    text: str


def readable(raw: bytes, content_type: str, seconds: float = SECONDS) -> ReadableText:
    """Return the text of a document.

    Args:
        raw: its bytes.
        content_type: its declared media type, with or without a charset; the content takes precedence.
        seconds: timeout for a page or a PDF.

    Raises:
        FencepostError: `document_type_unsupported`, it is not text, a page or a PDF; `document_too_large`;
            `document_unreadable`, it is damaged, empty or takes too long to read.
    """
    kind = kind_of(raw, content_type)
    charset = _PARAMETER.search(content_type)
    written = _read(raw, kind, charset[1] if charset else "", seconds)
    return ReadableText(kind, written.title, written.language, written.text)


def kind_of(raw: bytes, content_type: str) -> DocumentKind:
    """Return the kind of a document: by its first bytes, else by its declared media type.

    Raises:
        FencepostError: `document_type_unsupported`.
    """
    declared = content_type.partition(";")[0].strip().lower()
    if _PDF in raw[:_HEAD_BYTES]:
        return DocumentKind.PDF
    if declared in _HTML_TYPES or (declared not in _MARKDOWN_TYPES and _HTML.match(raw[:_HEAD_BYTES])):
        return DocumentKind.HTML
    if declared in _MARKDOWN_TYPES:
        return DocumentKind.MARKDOWN
    if declared.startswith("text/") or declared in _ANY_TYPES:
        return DocumentKind.TEXT
    raise FencepostError(ErrorCode.DOCUMENT_TYPE_UNSUPPORTED)


class PageText(DocumentReader):
    """Reads HTML and PDF in child processes.

    Args:
        seconds: timeout for a page or a PDF, which then counts as unreadable.
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
            declared = _META.search(raw[:_HEAD_BYTES])
            text = _decoded(raw, charset or (declared[1].decode() if declared else "windows-1252"))
            page = json.loads(read_in_child(html_worker, text.encode(), seconds, MAX_TEXT_CHARACTERS))
            return Readable(_tidy(legible(page["text"])), page["title"], page["language"])
        case DocumentKind.PDF:
            return _pdf(raw, seconds)
        case DocumentKind.MARKDOWN | DocumentKind.TEXT:
            text = _tidy(legible(_decoded(raw, charset)))
            return Readable(text, _title(scan(text)))


def _pdf(raw: bytes, seconds: float) -> Readable:
    # Fonts use ligatures and presentation forms. Searches need the letters.
    text = _tidy(normalise(read_in_child(pdf_worker, raw, seconds, MAX_PDF_PAGES, MAX_TEXT_CHARACTERS)))
    return Readable(text, plain_text(text.partition("\n")[0]))


def _decoded(raw: bytes, charset: str) -> str:
    """Decode UTF-8, which no other encoding resembles, else UTF-16 with a byte order mark, else the given charset.

    Raises:
        FencepostError: `document_unreadable`; the bytes are invalid, or contain a NUL, which text does not.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        codec = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else codec_of(charset)
        try:
            text = raw.decode(codec)
        except UnicodeDecodeError:
            raise FencepostError(ErrorCode.DOCUMENT_UNREADABLE) from None
    if "\0" in text:
        raise FencepostError(ErrorCode.DOCUMENT_UNREADABLE)
    return text


def _tidy(text: str) -> str:
    """Return a text with at most two blank lines in a row, and one line end at its end."""
    text = _BLANK_LINES.sub("\n\n\n", text.strip())
    return f"{text}\n" if text else ""


def _title(lines: list[MarkdownLine]) -> str:
    """Return the first heading near the top, else the first line that is not blank."""
    first = lines[:_TITLE_LINES]
    heading = next((line.heading for line in first if line.level), "")
    return plain_text(heading or next((line.text for line in first if not line.blank), ""))
