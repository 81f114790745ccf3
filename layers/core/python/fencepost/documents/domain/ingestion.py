"""The rules of a document's way into the index: when it is due, and what becomes of each chunk in a new version."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Final
from urllib.parse import urlsplit

from fencepost.conversations.domain.messages import Conversation
from fencepost.documents.domain.documents import Chunk, ChunkRow, Document, DocumentOrigin, DocumentState

MAX_DOCUMENT_BYTES: Final = 20_000_000
"""Of a document as it is uploaded or fetched."""
MAX_TEXT_CHARACTERS: Final = 10_000_000
"""Unicode code points of a canonical text: the chunker holds all of it at once."""
MAX_TITLE_CHARACTERS: Final = 200
MAX_USERS: Final = 100
"""Listed in an ACL. Each is a grant that stands in every entry of the document."""
MAX_REFRESH_HOURS: Final = 24 * 365
UPLOAD_DAYS: Final = 1
"""How long an announced upload is waited for."""

STUCK_AFTER: Final = timedelta(minutes=15)
"""When work on a document that has not come to its end is queued again: its message may have been lost."""

_UNDER_WAY = frozenset({DocumentState.QUEUED, DocumentState.INDEXING, DocumentState.REMOVED})
_AT_REST = frozenset({DocumentState.READY, DocumentState.FAILED})


def is_at_rest(document: Document) -> bool:
    """Tell whether no work on a document is under way: what it is then, its rows and entries say exactly."""
    return document.state in _AT_REST


def due_at(document: Document) -> datetime | None:
    """Return when work on a document is to be queued, if nothing happens before; None for never."""
    if document.state in _UNDER_WAY:
        return document.updated_at + STUCK_AFTER
    if is_at_rest(document) and document.source and document.refresh_hours:
        return (document.checked_at or document.updated_at) + timedelta(hours=document.refresh_hours)
    return None


def origin_at(address: str) -> DocumentOrigin:
    """Return what stands at an address, as its path tells."""
    path = urlsplit(address).path
    if path.endswith("llms-full.txt"):
        return DocumentOrigin.LLMS_FULL
    return DocumentOrigin.SITEMAP if path.endswith(".xml") else DocumentOrigin.PAGE


class ChunkAction(Enum):
    """What a row is to a version that is being built. Whoever reads the version before sees none of it."""

    KEPT = auto()
    RETURNED = auto()
    """It was to vanish with this version, when its text was another: it stays after all."""
    VANISHES = auto()
    VANISHING = auto()
    """As `VANISHES`, and marked so already."""
    STRAY = auto()
    """It was written for this version when its text was another, and belongs to none."""
    LEFT_OVER = auto()
    """It vanished with an earlier version, and is still there."""


def chunk_action(row: ChunkRow, document: Document, pieces: Mapping[str, Chunk]) -> ChunkAction:
    """Return what becomes of a row in a document's next version, which is made of these pieces."""
    if row.until is not None and row.until <= document.version:
        return ChunkAction.LEFT_OVER
    if row.id in pieces:
        return ChunkAction.KEPT if row.until is None else ChunkAction.RETURNED
    if row.since > document.version:
        return ChunkAction.STRAY
    return ChunkAction.VANISHES if row.until is None else ChunkAction.VANISHING


def is_left_over(row: ChunkRow, document: Document) -> bool:
    """Tell whether a row is part of no version that anybody reads or builds."""
    return row.until is not None and row.until <= document.version


SETTLES: Final = timedelta(minutes=2)
"""How long what changed is left alone: an index may show only after a minute what was written, or removed."""


def is_settled(what: Document | Conversation, now: datetime) -> bool:
    """Tell whether the index has had the time to show the last change."""
    return what.updated_at + SETTLES <= now
