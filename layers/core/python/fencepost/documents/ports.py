"""Ports of documents: stores, readers, the archive of `llms-full.txt`, and the ranking of its sections."""

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
    """The readable content of a document.

    Attributes:
        text: canonical text; Markdown if the document has structure.
        title: the title that the document states; empty for none.
        language: the language that the document states (BCP 47); empty for none.
    """

    text: str
    title: str = ""
    language: str = ""


class DocumentReader(Protocol):
    """Extracts canonical text from documents."""

    def read(self, content: bytes, kind: DocumentKind) -> Readable:
        """Return the text of a document. The same content always gives the same text.

        Raises:
            FencepostError: `document_unreadable`, it is not of this kind, is damaged, or takes too long to read;
                `document_too_large`, it or its text is too long.
        """
        ...


@dataclass(frozen=True, slots=True)
class ArchivedDocument:
    """A copy of `llms-full.txt`. `confirmed_at` is when the site last sent it or answered that it had not changed."""

    document: RawDocument
    confirmed_at: datetime


class DocumentArchive(Protocol):
    """Storage for the last good copy of a site's `llms-full.txt`, shared by all instances."""

    def load(self, url: str) -> ArchivedDocument | None:
        """Return the stored copy, or None if there is none. The adapter reports failures and returns None."""
        ...

    def save(self, url: str, copy: ArchivedDocument) -> None:
        """Store a copy. The adapter reports failures and does not raise."""
        ...


class SiteDocuments(Protocol):
    """The sections of `llms-full.txt` that answers are based on."""

    def current(self, now: datetime) -> DocumentSet:
        """Return the newest available document set; a stale one if the site does not answer.

        Raises:
            FencepostError: `documents_unavailable`, there is none at all; `misconfigured`, no site is configured.
        """
        ...


class SectionRanker(Protocol):
    """Orders sections by relevance to a question."""

    def rank(self, query: str, documents: DocumentSet) -> list[Section]:
        """Return the matching sections, the most relevant first. Deterministic."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkVersionPlace:
    """A chunk's place in one version of its document: its ordinal from 0, and its span in code points."""

    ordinal: int
    start: int
    end: int


class DueDocumentStore(Protocol):
    """The documents of all organisations that are due for work. Ids only; the work itself needs a scope."""

    def due(self, now: datetime, limit: int) -> tuple[tuple[str, str], ...]:
        """Return organisation and id of documents that are due, the longest overdue first.

        `fencepost.documents.domain.documents.due_at` defines when a document is due.

        Raises:
            FencepostError: `conversations_unavailable`.
        """
        ...


class DocumentStore(Protocol):
    """Storage for documents, their chunks, chunk places and work leases.

    All methods raise `FencepostError` with `conversations_unavailable` if the store does not answer.
    """

    def create(self, scope: Scope, document: Document) -> bool:
        """Store a new document. Return False if another document has its id."""
        ...

    def get(self, scope: Scope, document_id: str) -> Document | None:
        """Return a document, in any state; None if there is none."""
        ...

    def page(self, scope: Scope, *, after: str | None, limit: int) -> Page[Document]:
        """Return a page of documents, newest first, without those in the state `REMOVED`."""
        ...

    def change(self, scope: Scope, before: Document, after: Document) -> bool:
        """Replace a document. Return False if the stored document differs from `before` in any field."""
        ...

    def remove(self, scope: Scope, document_id: str) -> None:
        """Delete a document's row and its work lease. Its chunks and places must be gone already."""
        ...

    def begin(self, scope: Scope, document_id: str, lease: WorkLease) -> bool:
        """Acquire the work lease of a document. Return False if another worker holds it."""
        ...

    def end(self, scope: Scope, document_id: str, lease: WorkLease) -> None:
        """Release a work lease. Does nothing if the worker does not hold it any more."""
        ...

    def chunks(self, scope: Scope, document_id: str, *, after: str | None, limit: int) -> Page[ChunkRow]:
        """Return a page of a document's chunks of all versions, ordered by id."""
        ...

    def put_chunks(self, scope: Scope, document_id: str, rows: Sequence[ChunkRow]) -> None:
        """Store chunks, in place of those with the same ids."""
        ...

    def drop_chunks(self, scope: Scope, document_id: str, chunk_ids: Sequence[str]) -> None:
        """Delete chunks, whether they exist or not."""
        ...

    def put_places(self, scope: Scope, document_id: str, version: int, places: Mapping[str, ChunkVersionPlace]) -> None:
        """Store the place of each chunk of a version, in place of those stored before for the version."""
        ...

    def drop_places(self, scope: Scope, document_id: str, version: int) -> None:
        """Delete the chunk places of a version."""
        ...

    def hydrate(
        self, scope: Scope, wanted: Sequence[tuple[str, str]]
    ) -> tuple[Mapping[str, Document], Mapping[tuple[str, str], ChunkRow]]:
        """Return documents by id, and chunks by (document, chunk), for pairs of ids. Missing ones are left out.

        All are read in one step.
        """
        ...

    def places(
        self, scope: Scope, wanted: Sequence[tuple[str, int, str]]
    ) -> Mapping[tuple[str, str], ChunkVersionPlace]:
        """Return chunk places by (document, chunk), for (document, version, chunk). Missing ones are left out.

        All are read in one step.
        """
        ...
