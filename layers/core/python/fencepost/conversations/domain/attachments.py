"""Attachments: files that belong to questions, and their limits."""

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
"""Unicode code points of a file's text: about as many as a context window can hold."""
MAX_PAGES = 200
MAX_NAME_CHARACTERS = 200
MAX_ATTACHMENTS = 5
"""Files of one question."""
MOST_CONVERSATIONS = 1_000
"""Conversations that may use one file. Its row, of 400 KB at most, holds their ids."""


class AttachmentState(StrEnum):
    """State of an attachment: `AWAITED` until it is uploaded and read, then `READY` or `REFUSED` with an error."""

    AWAITED = "awaited"
    READY = "ready"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """An owner's file.

    Attributes:
        size: announced bytes; the upload may not be larger.
        characters: code points of the text, once it was read.
        error: error code of a refused file.
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
    """The text of an attachment, for a prompt. Its source id is `file:<id>`."""

    id: str
    name: str
    text: str

    @property
    def source(self) -> str:
        """The source id that an answer cites."""
        return f"file:{self.id}"
