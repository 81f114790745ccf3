"""What a document's text is read with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fencepost.documents.domain.documents import ChunkRow, Document, DocumentKind
from fencepost.documents.domain.sections import DocumentSet
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.paging import Page
from fencepost.kernel.ports import RawDocument
from fencepost.prompting.domain.fence import Section
from fencepost.queue.domain import WorkLease


@dataclass(frozen=True, slots=True)
class Readable:
    """A document's canonical text, in Markdown where it has a structure, and what it says of itself; else empty.

    Attributes:
        language: BCP 47.
    """

    text: str
    title: str = ""
    language: str = ""


class DocumentReader(Protocol):
    """Reads what is written in a document."""

    def read(self, content: bytes, kind: DocumentKind) -> Readable:
        """Return the text. The same content always gives the same.

        Raises:
            FencepostError: `document_unreadable`; it is not what it says, is damaged, or takes too long.
                `document_too_large`; more is written in it than may be.
        """
        ...


@dataclass(frozen=True, slots=True)
class ArchivedDocument:
    """A copy of the file. `confirmed_at` is when the site last sent it, or said that it had not changed."""

    document: RawDocument
    confirmed_at: datetime


class DocumentArchive(Protocol):
    """The last good copy of a site's file, shared by all instances."""

    def load(self, url: str) -> ArchivedDocument | None:
        """Return the stored copy, or None. A failure is the adapter's to report, and is None too."""
        ...

    def save(self, url: str, copy: ArchivedDocument) -> None:
        """Store a copy. A failure is the adapter's to report; the turn goes on."""
        ...


class SiteDocuments(Protocol):
    """The documents that answers draw on."""

    def current(self, now: datetime) -> DocumentSet:
        """Return the newest set that can be had, a stale one where the site does not answer.

        Raises:
            FencepostError: `documents_unavailable` when there is none at all; `misconfigured` without a site.
        """
        ...


class SectionRanker(Protocol):
    """Orders sections by relevance to a question."""

    def rank(self, query: str, documents: DocumentSet) -> list[Section]:
        """Return the sections that match at all, the most relevant first. Deterministic."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkVersionPlace:
    """Where a chunk stands in one version of its document: its ordinal, and its span in code points."""

    ordinal: int
    start: int
    end: int


class DueDocumentStore(Protocol):
    """Which documents wait for work, of all organisations: ids alone, for whoever then acts in each one's scope."""

    def due(self, now: datetime, limit: int) -> tuple[tuple[str, str], ...]:
        """Return organisation and document of what is due (`fencepost.documents.domain.documents.due_at`), the
        oldest first.

        Raises:
            FencepostError: `conversations_unavailable`.
        """
        ...


class DocumentStore(Protocol):
    """Documents and their chunks. All methods raise `FencepostError` with `conversations_unavailable` on no answer."""

    def create(self, scope: Scope, document: Document) -> bool:
        """Store a new document; False where there is one with this id."""
        ...

    def get(self, scope: Scope, document_id: str) -> Document | None:
        """Return a document, also a removed one."""
        ...

    def page(self, scope: Scope, *, after: str | None, limit: int) -> Page[Document]:
        """List documents, newest first, without removed ones."""
        ...

    def change(self, scope: Scope, before: Document, after: Document) -> bool:
        """Write a document anew; False where it is not `before` any more (its version, state or content)."""
        ...

    def remove(self, scope: Scope, document_id: str) -> None:
        """Remove a document's row, when nothing else is left of it."""
        ...

    def begin(self, scope: Scope, document_id: str, lease: WorkLease) -> bool:
        """Take the lease of work on a document; False where another worker has it."""
        ...

    def end(self, scope: Scope, document_id: str, lease: WorkLease) -> None:
        """Give the lease back. Does nothing where it is lost."""
        ...

    def chunks(self, scope: Scope, document_id: str, *, after: str | None, limit: int) -> Page[ChunkRow]:
        """List the rows of a document's chunks of all versions, by id."""
        ...

    def put_chunks(self, scope: Scope, document_id: str, rows: Sequence[ChunkRow]) -> None:
        """Write rows of chunks."""
        ...

    def drop_chunks(self, scope: Scope, document_id: str, chunk_ids: Sequence[str]) -> None:
        """Remove rows of chunks."""
        ...

    def put_places(self, scope: Scope, document_id: str, version: int, places: Mapping[str, ChunkVersionPlace]) -> None:
        """Write where each chunk of a version stands."""
        ...

    def drop_places(self, scope: Scope, document_id: str, version: int) -> None:
        """Forget a version's places."""
        ...

    def hydrate(
        self, scope: Scope, wanted: Sequence[tuple[str, str]]
    ) -> tuple[Mapping[str, Document], Mapping[tuple[str, str], ChunkRow]]:
        """Return, in one step, the documents and the chunks' rows of (document, chunk) pairs, without those gone."""
        ...

    def places(
        self, scope: Scope, wanted: Sequence[tuple[str, int, str]]
    ) -> Mapping[tuple[str, str], ChunkVersionPlace]:
        """Return, in one step, where the chunks of (document, version, chunk) stand."""
        ...
