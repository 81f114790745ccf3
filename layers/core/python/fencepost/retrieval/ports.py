"""Ports of retrieval: embedders, vector indexes, the cache of embeddings, and hydration of hits.

Each method that touches data takes a `Scope` first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.paging import Page
from fencepost.retrieval.domain.ranking.fusion import FusionKey
from fencepost.retrieval.domain.search import EmbeddingModel, Hit, IndexEntry, IndexHealth, Passage, Search, Vector


class Embedder(Protocol):
    """Turns texts into vectors of length one. Its methods raise `EmbedderUnavailable` without an answer in time."""

    @property
    def model(self) -> EmbeddingModel:
        """The model that makes the vectors."""
        ...

    def passages(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """Return the vectors of texts to be indexed, in order."""
        ...

    def query(self, text: str) -> Vector:
        """Return the vector of a query."""
        ...

    def count(self, text: str) -> int:
        """Return the number of tokens of a text, or an upper bound where the model does not count them."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An entry as the index lists it, to be compared with the rows."""

    stored_id: str
    chunk: str
    parent: str
    owner: str
    version: int
    model: str


class VectorIndex(Protocol):
    """Finds chunks by words and by vectors. Its methods raise `IndexUnavailable` when the index does not answer.

    Writes and deletions become visible to searches after a delay (`visible`).
    """

    def upsert(self, scope: Scope, entries: Sequence[IndexEntry]) -> tuple[str, ...]:
        """Write entries of the scope's organisation, and return their stored ids, in order.

        Where the index chooses the ids, writing a chunk twice makes two entries: delete the older by its stored id.
        """
        ...

    def delete(self, scope: Scope, stored_ids: Sequence[str]) -> int:
        """Remove entries, and return how many existed.

        Entries that are absent or of another organisation are ignored and not counted; one that is named twice counts
        once. Removed entries may still be found and listed for a while. A lost answer is counted as zero.
        """
        ...

    def visible(self, scope: Scope, stored_ids: Sequence[str]) -> frozenset[str]:
        """Return those of the ids that searches find already."""
        ...

    def lexical(self, scope: Scope, search: Search, text: str) -> tuple[Hit, ...]:
        """Return the hits of a search by words (BM25 on text and context) inside the scope, the best first."""
        ...

    def nearest(
        self, scope: Scope, search: Search, vector: Vector, model: str, field: Literal["text", "context"] = "text"
    ) -> tuple[Hit, ...]:
        """Return the hits of a search by vector (cosine, same model), filtered inside the search, the best first."""
        ...

    def listed(self, scope: Scope, after: str | None, limit: int, parent: str = "", owner: str = "") -> Page[Stored]:
        """Return a page of the entries of the scope's organisation, in a stable order.

        Args:
            after: the stored id after which the page starts; None for the first page.
            limit: most entries.
            parent: lists the entries of this document or conversation only.
            owner: lists the entries of this owner only. Documents have no owner, so none of them are listed.
        """
        ...

    def health(self) -> IndexHealth:
        """Return the state of the index. Does not raise."""
        ...


class EmbeddingCache(Protocol):
    """Vectors of texts that were embedded before, separate for each organisation. Failures are empty answers."""

    def known(self, scope: Scope, model: str, digests: Sequence[str]) -> Mapping[str, Vector]:
        """Return the cached vectors, by the texts' SHA-256 hex digests."""
        ...

    def remember(self, scope: Scope, model: str, vectors: Mapping[str, Vector]) -> None:
        """Cache vectors, by the texts' SHA-256 hex digests."""
        ...


@dataclass(frozen=True, slots=True)
class Hydrated:
    """Hits joined with their rows. A hit that may not be read, or was not read yet, is in neither attribute.

    Attributes:
        passages: passages of rows that exist, are current and may be read.
        dead: hits whose rows are deleted: their entries should be removed.
    """

    passages: Mapping[FusionKey, Passage] = field(default_factory=dict)
    dead: tuple[Hit, ...] = ()


class Hydrator(Protocol):
    """Reads the rows of one kind of entries. Its methods raise `FencepostError` when a store does not answer."""

    def hydrate(self, scope: Scope, grants: frozenset[str], hits: Sequence[Hit]) -> Hydrated:
        """Return the passages of hits, in one step of the store."""
        ...

    def finish(self, scope: Scope, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """Complete the chosen passages with content that only they need, in at most one step of the store."""
        ...
