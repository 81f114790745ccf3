"""Documents of an organisation: who may read each, and what becomes of them on their way into the index."""

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
    """What is written in it."""

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
    """`QUEUED` until a worker reads it, `INDEXING` until its newest version is whole, then `READY`.

    `FAILED` says why; a version that was whole before is still the one that is found. `AWAITED` is an upload that has
    not come. A `REMOVED` one is found by nobody and on its way out.
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
        site: id of the site that it belongs to; empty for all of them.
        version: of what is found now; 0 before the first is whole.
        next_version: of what is being written; equal to `version` while nothing is.
        content_hash: SHA-256 hex digest of the canonical text of `version`.
        url: where a reader finds it; empty for none.
        source: the address that it is fetched from; empty for text and uploads.
        parent: id of the sitemap that named it; empty for none.
        refresh_hours: how often `source` is asked again; 0 for never.
        etag, modified: the validators of the last fetch.
        chunks: of `version`.
        error: code of why the last reading failed, or has to be tried again.
        model: name of the embedding model of its vectors.
        entry: what its entries in the index were made under (`fencepost.documents.domain.entries.fingerprint`).
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
    """A chunk of a text, as the chunker cuts it. The spans of all pieces tile the text.

    Attributes:
        id: of its breadcrumb, its lead, its text and how often all three came before in the document. Edits elsewhere
            leave it; one in the sentences before it that `lead` repeats gives it another.
        start, end: its own span in the canonical text, in code points, end exclusive.
        breadcrumb: the headings above it, outermost first.
        text: the span's own text.
        lead: the sentences before it that it repeats, for whoever embeds or reads it alone; none of its span.
    """

    id: str
    start: int
    end: int
    text: str
    breadcrumb: tuple[str, ...] = ()
    lead: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRow:
    """A chunk as the table holds it: the truth that every hit is hydrated from.

    Attributes:
        since: the document's version that it came with.
        until: the version that it was gone with; None while it is part of the newest.
        stored_id: what the index calls it; empty until it is there.
        stale_id: what the index calls an older entry of it, which is to be removed once the newer one is found.
        entry: what the entry was made under, as of `Document`.
        url: of the page that it stands on, where its document is many pages; else empty, and the document's holds.
        vector: its embedding, so that an index can be made anew without paying for it again.
        model: that made the vector.
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
        """What the index calls its entries: none, one, or an older one as well."""
        return tuple(filter(None, (self.stored_id, self.stale_id)))

    def is_part_of(self, version: int) -> bool:
        """Tell whether it belongs to a version of its document."""
        return self.since <= version and (self.until is None or version < self.until)


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
