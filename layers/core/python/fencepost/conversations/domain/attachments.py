"""Files that a question brings along."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

PLAIN: Final = "text/plain"
MARKDOWN: Final = "text/markdown"
PDF: Final = "application/pdf"
CONTENT_TYPES: Final = (PLAIN, MARKDOWN, PDF)

MAX_FILE_BYTES = 5 * 1024 * 1024
MAX_TEXT_CHARACTERS = 200_000
"""Unicode code points that may be written in a file: about what a prompt's context can hold at all."""
MAX_PAGES = 200
MAX_NAME_CHARACTERS = 200
MAX_ATTACHMENTS = 5
"""Files of one question."""
MOST_CONVERSATIONS = 1_000
"""Conversations that one file may be used in: its row holds their ids, and a row holds 400 KB."""


class AttachmentState(StrEnum):
    """`AWAITED` before it is uploaded and read, then `READY`, or `REFUSED` with the reason."""

    AWAITED = "awaited"
    READY = "ready"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file of an owner.

    Attributes:
        size: bytes, as announced; the upload may not be larger.
        characters: code points of its text, once read.
        error: the code of why it was refused.
    """

    id: str
    name: str
    content_type: str
    size: int
    state: AttachmentState
    created_at: datetime
    characters: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class AttachedText:
    """What is written in an attachment, for a prompt. Its source is `file:<id>`."""

    id: str
    name: str
    text: str

    @property
    def source(self) -> str:
        """The id under which an answer cites it."""
        return f"file:{self.id}"
