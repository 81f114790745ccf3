"""Documents and chunks: their fields, states and limits, and how a new version treats existing chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, StrEnum, auto
from typing import Final
from urllib.parse import urlsplit

from fencepost.conversations.domain.messages import Conversation
from fencepost.identity.domain.scope import Acl


class DocumentKind(StrEnum):
    """The format of a document's content."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    PDF = "pdf"


class DocumentOrigin(StrEnum):
    """Where a document comes from."""

    INLINE = "inline"
    UPLOAD = "upload"
    PAGE = "page"
    LLMS_FULL = "llms_full"
    SITEMAP = "sitemap"


class DocumentState(StrEnum):
    """The state of a document.

    `AWAITED` until an announced upload arrives, `QUEUED` until a worker reads it, `INDEXING` until its newest version
    is complete, then `READY`. `FAILED` documents have an `error`; searches still find their last complete version.
    `REMOVED` documents are not found any more, and a job deletes them.
    """

    AWAITED = "awaited"
    QUEUED = "queued"
    INDEXING = "indexing"
    READY = "ready"
    FAILED = "failed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document of an organisation.

    Attributes:
        site: id of the site that it belongs to; empty for all sites.
        version: the version that searches use; 0 before the first is complete.
        next_version: the version that is being built; equal to `version` if none is.
        content_hash: SHA-256 hex digest of the canonical text of `version`.
        url: address shown to readers; empty for none.
        source: address that it is fetched from; empty for inline texts and uploads.
        parent: id of the sitemap that lists it; empty for none.
        refresh_hours: interval of fetching `source` again; 0 for never.
        etag, modified: validators of the last fetch.
        chunks: number of chunks of `version`.
        error: code of the error of the last reading, whether it failed for good or is to be retried.
        model: name of the embedding model of its vectors.
        entry: fingerprint of its index entries (`fencepost.documents.domain.entries.fingerprint`).
    """

    id: str
    org: str
    site: str
    title: str
    kind: DocumentKind
    origin: DocumentOrigin
    acl: Acl
    state: DocumentState
    created_at: datetime
    updated_at: datetime
    url: str = ""
    source: str = ""
    parent: str = ""
    language: str = ""
    version: int = 0
    next_version: int = 0
    content_hash: str = ""
    size_bytes: int = 0
    chunks: int = 0
    refresh_hours: int = 0
    checked_at: datetime | None = None
    etag: str = ""
    modified: str = ""
    error: str | None = None
    model: str = ""
    entry: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A chunk of a text, as the chunker makes it. The spans of all chunks tile the text.

    Attributes:
        id: hash of the breadcrumb, lead and text, and of how often the same three occurred before in the document.
            Edits elsewhere do not change it; edits to the preceding sentences that `lead` repeats do.
        start, end: span in the canonical text, in code points, end exclusive.
        breadcrumb: the headings above the chunk, outermost first.
        text: the text of the span.
        lead: the preceding sentences, repeated as context for embedding and reading; not part of the span.
    """

    id: str
    start: int
    end: int
    text: str
    breadcrumb: tuple[str, ...] = ()
    lead: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRow:
    """A chunk as stored: the source of truth that every hit is hydrated from.

    Attributes:
        since: the first version of the document that has the chunk.
        until: the first version that no longer has it; None if the newest has it.
        stored_id: id of its index entry; empty until the entry is written.
        stale_id: id of an older entry, to be removed once searches find the newer one.
        entry: fingerprint of the entry, as in `Document`.
        url: address of the chunk's page if the document consists of many; else empty, and the document's applies.
        vector: its embedding, kept so that an index can be rebuilt without embedding again.
        model: name of the model that made the vector.
    """

    id: str
    document: str
    text: str
    breadcrumb: tuple[str, ...]
    lead: str
    since: int
    until: int | None = None
    stored_id: str = ""
    stale_id: str = ""
    entry: str = ""
    url: str = ""
    vector: tuple[float, ...] = field(default=(), repr=False)
    model: str = ""

    @property
    def entry_ids(self) -> tuple[str, ...]:
        """Ids of its index entries: none, one, or two while an older one awaits removal."""
        return tuple(filter(None, (self.stored_id, self.stale_id)))

    def is_part_of(self, version: int) -> bool:
        """Tell whether the chunk is part of a version of its document."""
        return self.since <= version and (self.until is None or version < self.until)


MAX_DOCUMENT_BYTES: Final = 20_000_000
"""Maximum size of an uploaded or fetched document."""
MAX_TEXT_CHARACTERS: Final = 10_000_000
"""Maximum length of a canonical text in code points: the chunker holds all of it in memory."""
MAX_TITLE_CHARACTERS: Final = 200
MAX_USERS: Final = 100
"""Maximum number of users in an ACL. Each becomes a grant in every index entry of the document."""
MAX_REFRESH_HOURS: Final = 24 * 365
UPLOAD_DAYS: Final = 1
"""Days until an announced upload that has not arrived is deleted."""

STUCK_AFTER: Final = timedelta(minutes=15)
"""How long work may go without a change before it is queued again: its message may have been lost."""

_UNDER_WAY = frozenset({DocumentState.QUEUED, DocumentState.INDEXING, DocumentState.REMOVED})
_AT_REST = frozenset({DocumentState.READY, DocumentState.FAILED})


def is_at_rest(document: Document) -> bool:
    """Tell whether no work on a document is under way, so that its rows and entries must match exactly."""
    return document.state in _AT_REST


def due_at(document: Document) -> datetime | None:
    """Return when the schedule is to queue work on a document if it does not change before; None for never."""
    if document.state in _UNDER_WAY:
        return document.updated_at + STUCK_AFTER
    if is_at_rest(document) and document.source and document.refresh_hours:
        return (document.checked_at or document.updated_at) + timedelta(hours=document.refresh_hours)
    return None


def origin_at(address: str) -> DocumentOrigin:
    """Return the origin that an address's path implies."""
    path = urlsplit(address).path
    if path.endswith("llms-full.txt"):
        return DocumentOrigin.LLMS_FULL
    return DocumentOrigin.SITEMAP if path.endswith(".xml") else DocumentOrigin.PAGE


class ChunkAction(Enum):
    """What a version build does with an existing chunk row. Readers of the current version do not notice."""

    KEPT = auto()
    """Part of the next version."""
    RETURNED = auto()
    """Marked as vanishing by an earlier attempt with another text, but part of the next version after all."""
    VANISHES = auto()
    """Part of the current version but not of the next."""
    VANISHING = auto()
    """As `VANISHES`, and already marked."""
    ORPHAN = auto()
    """Written by an earlier attempt with another text; part of no version."""
    LEFT_OVER = auto()
    """Not part of the current version any more, but not removed yet."""


def chunk_action(row: ChunkRow, document: Document, chunks: Mapping[str, Chunk]) -> ChunkAction:
    """Return the action for a row in the build of a document's next version, which consists of `chunks` by id."""
    if is_left_over(row, document):
        return ChunkAction.LEFT_OVER
    if row.id in chunks:
        return ChunkAction.KEPT if row.until is None else ChunkAction.RETURNED
    if row.since > document.version:
        return ChunkAction.ORPHAN
    return ChunkAction.VANISHES if row.until is None else ChunkAction.VANISHING


def is_left_over(row: ChunkRow, document: Document) -> bool:
    """Tell whether a row vanished with the current version or before: it is part of no version in use."""
    return row.until is not None and row.until <= document.version


SETTLES: Final = timedelta(minutes=2)
"""How long after a change the index is not checked: it may show writes and deletions only after a minute."""


def is_settled(changed: Document | Conversation, now: datetime) -> bool:
    """Tell whether the index has had enough time to show the last change."""
    return changed.updated_at + SETTLES <= now
