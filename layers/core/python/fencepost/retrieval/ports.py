"""The index, the embedder and the rows of documents. Every method that touches data takes a `Scope` first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.paging import Page
from fencepost.retrieval.domain.ranking.fusion import FusionKey
from fencepost.retrieval.domain.search import EmbeddingModel, Hit, IndexEntry, IndexHealth, Passage, Search, Vector


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


class EmbeddingCache(Protocol):
    """Vectors of texts that were embedded before, for each organisation apart. A failure is an empty answer."""

    def known(self, scope: Scope, model: str, digests: Sequence[str]) -> Mapping[str, Vector]:
        """Return what is known, by the texts' SHA-256 hex digests."""
        ...

    def remember(self, scope: Scope, model: str, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors for a while."""
        ...


@dataclass(frozen=True, slots=True)
class Hydrated:
    """What became of hits.

    Attributes:
        passages: those that are there, are current and may be read.
        dead: hits whose rows are gone for good: their entries are to be removed. One that may not be read, or is not
            read yet, is in neither.
    """

    passages: Mapping[FusionKey, Passage] = field(default_factory=dict)
    dead: tuple[Hit, ...] = ()


class Hydrator(Protocol):
    """Reads the rows of one kind of entries. Its methods raise `FencepostError` where a store does not answer."""

    def hydrate(self, scope: Scope, grants: frozenset[str], hits: Sequence[Hit]) -> Hydrated:
        """Return what the hits lead to, in one step of the store."""
        ...

    def finish(self, scope: Scope, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """Add to chosen passages what only those that are shown need, in one step of the store at most."""
        ...
