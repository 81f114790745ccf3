"""An index and embedders in plain memory, with the same rules as the adapters and faults on demand."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import count

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.paging import Page
from fencepost.retrieval.domain.search import (
    EmbedderUnavailable,
    EmbeddingModel,
    Hit,
    IndexEntry,
    IndexHealth,
    IndexUnavailable,
    Search,
    Vector,
)
from fencepost.retrieval.ports import Stored
from tests.fakes.corpus import PortFaults

_DIMENSIONS = 16


class FakeIndex:
    """Implements `VectorIndex`. It chooses the ids, as the strictest of real ones does.

    Attributes:
        entries: by their stored ids.
        lag: how many calls of `visible` an entry is hidden from.
        late: how many calls of `listed` do without what was written, and still tell of what was deleted.
        upserted: chunks that were written, in order.
    """

    def __init__(self, faults: PortFaults | None = None, lag: int = 0, late: int = 0) -> None:
        self.faults = faults or PortFaults()
        self.entries: dict[str, IndexEntry] = {}
        self.lag, self.late = lag, late
        self.upserted: list[str] = []
        self._hidden: dict[str, int] = {}
        self._listings = 0
        self._told: list[tuple[int, str, IndexEntry | None]] = []
        self._ids = count(1)

    def upsert(self, scope: Scope, entries: Sequence[IndexEntry]) -> tuple[str, ...]:
        with self._call("upsert"):
            ids = tuple(f"s{next(self._ids):06d}" for _ in entries)
            assert all(entry.org == scope.org for entry in entries)
            self.entries |= dict(zip(ids, entries, strict=True))
            self._hidden |= dict.fromkeys(ids, self.lag)
            self._told += ((self._listings, *pair) for pair in zip(ids, entries, strict=True))
            self.upserted += [entry.chunk for entry in entries]
            return ids

    def delete(self, scope: Scope, stored_ids: Sequence[str]) -> int:
        with self._call("delete_entries"):
            there = {one for one in stored_ids if one in self.entries and self.entries[one].org == scope.org}
            for one in there:
                del self.entries[one]
                self._told.append((self._listings, one, None))
            return len(there)

    def visible(self, scope: Scope, stored_ids: Sequence[str]) -> frozenset[str]:
        with self._call("visible"):
            for one in stored_ids:
                self._hidden[one] = self._hidden.get(one, 0) - 1
            return frozenset(one for one in stored_ids if one in self.entries and self._hidden[one] < 0)

    def lexical(self, scope: Scope, search: Search, text: str) -> tuple[Hit, ...]:
        with self._call("lexical"):
            words = set(text.casefold().split())
            return self._best(scope, search, lambda entry: len(words & set(_words(entry))))

    def nearest(self, scope: Scope, search: Search, vector: Vector, model: str, field: str = "text") -> tuple[Hit, ...]:
        with self._call("nearest"):
            return self._best(
                scope,
                search,
                lambda entry: math.sumprod(entry.vector, vector) if entry.model == model else 0,
            )

    def listed(self, scope: Scope, after: str | None, limit: int, parent: str = "", owner: str = "") -> Page[Stored]:
        with self._call("listed"):
            self._listings += 1
            found = [
                _stored(one, entry)
                for one, entry in sorted(self._known().items())
                if entry.org == scope.org and parent in ("", entry.parent) and owner in ("", entry.owner)
                if after is None or one > after
            ]
            return Page(tuple(found[:limit]), found[limit - 1].stored_id if len(found) > limit else None)

    def health(self) -> IndexHealth:
        return IndexHealth("ok")

    def of(self, parent: str) -> dict[str, str]:
        """Return the chunks of a document's entries, by their stored ids."""
        return {one: entry.chunk for one, entry in self.entries.items() if entry.parent == parent}

    def _known(self) -> dict[str, IndexEntry]:
        """Return what a listing tells of: all that there is, and of changes those that are no longer new."""
        if not self.late:
            return self.entries
        known = dict[str, IndexEntry | None](
            {one: entry for at, one, entry in self._told if self._listings > at + self.late}
        )
        return {one: entry for one, entry in known.items() if entry}

    def _best(self, scope: Scope, search: Search, score: Callable[[IndexEntry], float]) -> tuple[Hit, ...]:
        scored = [(score(entry), one, entry) for one, entry in self.entries.items() if _may_find(scope, search, entry)]
        best = sorted((row for row in scored if row[0] > 0), key=lambda row: (-row[0], row[1]))[: search.limit]
        return tuple(_hit(one, entry, points) for points, one, entry in best)

    def _call(self, name: str) -> AbstractContextManager[None]:
        return self.faults.call(name, IndexUnavailable("timeout"))


class FakeEmbedder:
    """Implements `Embedder`: texts that share words are near each other.

    Attributes:
        embedded: all texts, in order.
        batches: how many came at once.
    """

    def __init__(self, faults: PortFaults | None = None, name: str = "fake/16", max_tokens: int = 512) -> None:
        self.faults = faults or PortFaults()
        self.embedded: list[str] = []
        self.batches: list[int] = []
        self._model = EmbeddingModel(name=name, dimensions=_DIMENSIONS, max_tokens=max_tokens)

    @property
    def model(self) -> EmbeddingModel:
        return self._model

    def passages(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        with self.faults.call("passages", EmbedderUnavailable("timeout")):
            self.embedded += texts
            self.batches.append(len(texts))
            return tuple(map(vector_of, texts))

    def query(self, text: str) -> Vector:
        with self.faults.call("query", EmbedderUnavailable("timeout")):
            return vector_of(text)

    def count(self, text: str) -> int:
        return len(text.split())


class FakeEmbeddingCache:
    """Implements `EmbeddingCache`."""

    def __init__(self) -> None:
        self.vectors: dict[tuple[str, str, str], Vector] = {}

    def known(self, scope: Scope, model: str, digests: Sequence[str]) -> Mapping[str, Vector]:
        found = {digest: self.vectors.get((scope.org, model, digest)) for digest in digests}
        return {digest: vector for digest, vector in found.items() if vector}

    def remember(self, scope: Scope, model: str, vectors: Mapping[str, Vector]) -> None:
        self.vectors |= {(scope.org, model, digest): vector for digest, vector in vectors.items()}


def vector_of(text: str) -> Vector:
    """Return a vector of length one in which each word of a text counts in one direction."""
    counts = [1e-6] * _DIMENSIONS
    for word in text.casefold().split():
        counts[hashlib.sha256(word.encode()).digest()[0] % _DIMENSIONS] += 1
    length = math.sqrt(math.sumprod(counts, counts))
    return tuple(each / length for each in counts)


def _words(entry: IndexEntry) -> list[str]:
    return f"{entry.context} {entry.text}".casefold().split()


def _may_find(scope: Scope, search: Search, entry: IndexEntry) -> bool:
    if (entry.org, entry.kind) != (scope.org, search.kind) or entry.parent == search.exclude_parent:
        return False
    return entry.owner == scope.owner if entry.kind == "message" else bool(entry.grants & search.grants)


def _hit(stored_id: str, entry: IndexEntry, score: float) -> Hit:
    return Hit(
        stored_id=stored_id,
        chunk=entry.chunk,
        parent=entry.parent,
        version=entry.version,
        model=entry.model,
        score=score,
        text=entry.text,
        context=entry.context,
        position=entry.position,
    )


def _stored(stored_id: str, entry: IndexEntry) -> Stored:
    return Stored(
        stored_id=stored_id,
        chunk=entry.chunk,
        parent=entry.parent,
        owner=entry.owner,
        version=entry.version,
        model=entry.model,
    )
