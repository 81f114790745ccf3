"""Extracts text from attachments: untrusted text, Markdown and PDF files."""

from __future__ import annotations

from typing import override

from fencepost.conversations.domain.attachments import MAX_PAGES, MAX_TEXT_CHARACTERS, PDF
from fencepost.conversations.ports import TextExtractor
from fencepost.documents.readers import pdf_worker
from fencepost.documents.readers.bounded_child import ChildFailed, ChildTooLarge, read_in_child
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.text import normalise

SECONDS = 30.0
"""Timeout for a PDF. Hundreds of pages take a few seconds."""


class FileText(TextExtractor):
    """Extracts text; PDF files are read in a child process.

    Args:
        seconds: timeout for a PDF, which then counts as unreadable.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds

    @override
    def text(self, content: bytes, content_type: str) -> str:
        read = self._pdf(content) if content_type == PDF else _plain(content)
        if len(read) > MAX_TEXT_CHARACTERS:
            raise FencepostError(ErrorCode.ATTACHMENT_TOO_LARGE)
        text = normalise(read).strip()
        if not text:
            raise FencepostError(ErrorCode.ATTACHMENT_UNREADABLE)
        if len(text) > MAX_TEXT_CHARACTERS:
            raise FencepostError(ErrorCode.ATTACHMENT_TOO_LARGE)
        return text

    def _pdf(self, content: bytes) -> str:
        try:
            return read_in_child(pdf_worker, content, self._seconds, MAX_PAGES, MAX_TEXT_CHARACTERS)
        except ChildFailed:
            raise FencepostError(ErrorCode.ATTACHMENT_UNREADABLE) from None
        except ChildTooLarge:
            raise FencepostError(ErrorCode.ATTACHMENT_TOO_LARGE) from None


def _plain(content: bytes) -> str:
    """Return UTF-8 text. A NUL means that the file is not text: most binary files contain one."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FencepostError(ErrorCode.ATTACHMENT_UNREADABLE) from None
    if "\0" in text:
        raise FencepostError(ErrorCode.ATTACHMENT_UNREADABLE)
    return text
