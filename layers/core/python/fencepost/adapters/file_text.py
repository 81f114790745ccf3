"""Reads what is written in text, Markdown and PDF files that anybody uploaded.

A PDF is read in a process of its own, with bounds on time and memory and without our credentials: a few kilobytes of it
can unfold to gigabytes, or keep a parser busy for hours.
"""

from __future__ import annotations

import os
import subprocess
import sys

from fencepost.adapters import pdf_worker
from fencepost.domain.attachments import MAX_TEXT_CHARACTERS, PDF
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.text import normalise

SECONDS = 30.0
"""For a whole PDF. Hundreds of pages take a few."""


class FileText:
    """Implements `fencepost.ports.TextExtractor`.

    Args:
        seconds: after which a PDF counts as unreadable.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds

    def text(self, content: bytes, content_type: str) -> str:
        """See `fencepost.ports.TextExtractor`."""
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
            worker = subprocess.run(  # noqa: S603 - our own module, and nothing of the file is an argument
                [sys.executable, "-m", pdf_worker.__name__],
                input=content,
                capture_output=True,
                timeout=self._seconds,
                env={"PYTHONPATH": os.pathsep.join(sys.path)},
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise FencepostError(ErrorCode.ATTACHMENT_UNREADABLE) from None
        if worker.returncode == pdf_worker.TOO_LARGE:
            raise FencepostError(ErrorCode.ATTACHMENT_TOO_LARGE)
        if worker.returncode:
            raise FencepostError(ErrorCode.ATTACHMENT_UNREADABLE)
        return worker.stdout.decode(errors="replace")


def _plain(content: bytes) -> str:
    """Read UTF-8. A NUL stands in no text, and in most files of other kinds."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FencepostError(ErrorCode.ATTACHMENT_UNREADABLE) from None
    if "\0" in text:
        raise FencepostError(ErrorCode.ATTACHMENT_UNREADABLE)
    return text
