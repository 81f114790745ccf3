"""The index, the embedder and the rows of documents. Every method that touches data takes a `Scope` first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from fencepost.domain.corpus import ChunkRow, Document
from fencepost.domain.identity import Scope
from fencepost.domain.jobs import WorkLease
from fencepost.domain.retrieval import EmbeddingModel, Hit, IndexEntry, IndexHealth, Search, Vector
from fencepost.ports.conversations import Page


class Embedder(Protocol):
    """Turns texts into vectors of length one. Raises `EmbedderUnavailable` when it does not answer in time."""

    @property
    def model(self) -> EmbeddingModel:
        """What makes the vectors."""
        ...

    def passages(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """Embed what is to be found, in order."""
        ...

    def query(self, text: str) -> Vector:
        """Embed what is looked for."""
        ...

    def count(self, text: str) -> int:
        """Return the tokens of a text, or an upper bound where the model does not tell."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An entry as the index lists it, for whoever compares it with the rows."""

    stored_id: str
    chunk: str
    parent: str
    owner: str
    version: int
    model: str


class VectorIndex(Protocol):
    """Finds chunks by words and by meaning. All methods raise `IndexUnavailable` with a reason when it does not answer.

    What was written may be found only after a while, and what was deleted may be found for a while.
    """

    def upsert(self, scope: Scope, entries: Sequence[IndexEntry]) -> tuple[str, ...]:
        """Write entries of the scope's organisation, and return what the index calls each, in order.

        Writing a chunk twice makes two entries where the index chooses the ids: delete the older by its stored id.
        """
        ...

    def delete(self, scope: Scope, stored_ids: Sequence[str]) -> int:
        """Remove entries, and return how many of them there were.

        Those that are not there, or not the organisation's, are left alone and not counted, though they be listed or
        found for a while; one that is named twice counts once. Where an answer is lost, so is its count.
        """
        ...

    def visible(self, scope: Scope, stored_ids: Sequence[str]) -> frozenset[str]:
        """Return those of the ids that a search can find by now."""
        ...

    def lexical(self, scope: Scope, search: Search, text: str) -> tuple[Hit, ...]:
        """Find by words: BM25 on text and context, inside the scope; the best first."""
        ...

    def nearest(
        self, scope: Scope, search: Search, vector: Vector, model: str, field: Literal["text", "context"] = "text"
    ) -> tuple[Hit, ...]:
        """Find by meaning: cosine with vectors of the same model, filtered inside the search; the best first."""
        ...

    def listed(self, scope: Scope, after: str | None, limit: int, parent: str = "", owner: str = "") -> Page[Stored]:
        """List all entries of the scope's organisation, in a stable order; of one parent or owner, where it is named.

        Documents have no owner: with one named, none of them is listed.
        """
        ...

    def health(self) -> IndexHealth:
        """Tell how it is. Never raises."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a chunk stands in one version of its document: its ordinal, and its span in code points."""

    ordinal: int
    start: int
    end: int


class EmbeddingCache(Protocol):
    """Vectors of texts that were embedded before, for each organisation apart. A failure is an empty answer."""

    def known(self, scope: Scope, model: str, digests: Sequence[str]) -> Mapping[str, Vector]:
        """Return what is known, by the texts' SHA-256 hex digests."""
        ...

    def remember(self, scope: Scope, model: str, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors for a while."""
        ...


class Agenda(Protocol):
    """Which documents wait for work, of all organisations: ids alone, for whoever then acts in each one's scope."""

    def due(self, now: datetime, limit: int) -> tuple[tuple[str, str], ...]:
        """Return organisation and document of what is due (`fencepost.domain.ingestion.due_at`), the oldest first.

        Raises:
            FencepostError: `conversations_unavailable`.
        """
        ...


class CorpusStore(Protocol):
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

    def put_places(self, scope: Scope, document_id: str, version: int, places: Mapping[str, Place]) -> None:
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

    def places(self, scope: Scope, wanted: Sequence[tuple[str, int, str]]) -> Mapping[tuple[str, str], Place]:
        """Return, in one step, where the chunks of (document, version, chunk) stand."""
        ...
