"""The `VectorIndex` port on OpenSearch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import batched
from typing import Final, Literal, override

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.paging import Page
from fencepost.retrieval.domain.search import (
    EmbeddingModel,
    Hit,
    IndexEntry,
    IndexHealth,
    IndexUnavailable,
    Search,
    Vector,
)
from fencepost.retrieval.indexes.entries import require_own
from fencepost.retrieval.indexes.opensearch import documents, queries
from fencepost.retrieval.indexes.opensearch.bulk import Bulk
from fencepost.retrieval.indexes.opensearch.cluster import Cluster
from fencepost.retrieval.indexes.opensearch.mapping import ALIAS, IndexPlan
from fencepost.retrieval.indexes.opensearch.setup import Indices
from fencepost.retrieval.ports import Stored, VectorIndex

IDS_AT_ONCE: Final = 500

_WAKING: Final = ("timeout", "503")
"""Reasons with which a collection that was scaled to zero refuses, until it has capacity again."""


class OpenSearchIndex(VectorIndex):
    """Index on OpenSearch. Safe to share between threads.

    Writes are visible after up to a minute on a classic collection, and after seconds elsewhere. A chunk that is
    written twice makes two entries.

    Args:
        cluster: the cluster that holds the index.
        model: the model of its vectors.
        alias: points to the index.
        bulk: writes to the cluster.
    """

    def __init__(
        self, cluster: Cluster, model: EmbeddingModel, *, alias: str = ALIAS, bulk: Bulk | None = None
    ) -> None:
        self._cluster = cluster
        self._alias = alias
        self._bulk = bulk or Bulk(cluster)
        self._indices = Indices(cluster, alias)
        self._plan = IndexPlan(model, cluster.engine, alias)

    @override
    def upsert(self, scope: Scope, entries: Sequence[IndexEntry]) -> tuple[str, ...]:
        """Write entries. The index is created before the first one."""
        require_own(scope, entries)
        self._indices.ensure(self._plan)
        try:
            names = self._bulk.index(self._alias, [documents.document_of(entry) for entry in entries])
        except IndexUnavailable as error:
            if self._takes(self._plan.model.dimensions, error):
                raise
            # The index holds another model's vectors: a migration changed it, or is about to.
            raise IndexUnavailable("other_dimensions") from None
        return tuple(f"{scope.org}:{name}" for name in names)

    @override
    def delete(self, scope: Scope, stored_ids: Sequence[str]) -> int:
        """Delete entries, during a migration from both indices."""
        removed = 0
        for batch in batched(dict.fromkeys(stored_ids), IDS_AT_ONCE, strict=False):
            ids = documents.own_ids(scope, batch)
            names = self._indices.all() if ids else ()
            removed += len(set[str]().union(*(self._removed(scope, name, ids) for name in names)))
        return removed

    @override
    def visible(self, scope: Scope, stored_ids: Sequence[str]) -> frozenset[str]:
        seen: set[str] = set()
        for batch in batched(stored_ids, IDS_AT_ONCE, strict=False):
            ids = documents.own_ids(scope, batch)
            hits = self._search(queries.stored(scope, ids)) if ids else ()
            seen.update(documents.stored_id(scope, found) for found in hits)
        return frozenset(seen & set(stored_ids))

    @override
    def lexical(self, scope: Scope, search: Search, text: str) -> tuple[Hit, ...]:
        """Search by words. Term rarity is that of the whole index, across organisations."""
        if _finds_nothing(search) or not text.strip():
            return ()
        hits = self._search(queries.lexical(scope, search, text))
        return tuple(documents.hit_of(scope, found, found["_score"]) for found in hits)

    @override
    def nearest(
        self, scope: Scope, search: Search, vector: Vector, model: str, field: Literal["text", "context"] = "text"
    ) -> tuple[Hit, ...]:
        if _finds_nothing(search):
            return ()
        try:
            hits = self._search(queries.nearest(scope, search, vector, model, field))
        except IndexUnavailable as error:
            # The index holds another model's vectors, of other dimensions, and none of this model's.
            if self._takes(len(vector), error):
                raise
            return ()
        return tuple(documents.hit_of(scope, found, documents.inner_product(found["_score"])) for found in hits)

    @override
    def listed(self, scope: Scope, after: str | None, limit: int, parent: str = "", owner: str = "") -> Page[Stored]:
        within = queries.of_organisation(scope, parent, owner)
        try:
            hits = self._search(queries.listed(within, after, limit, queries.STORED_FIELDS))
        except IndexUnavailable as error:
            if not _is_unknown(error) or self._indices.current():
                raise
            hits = ()
        last = hits[-1]["_source"]["entry"] if len(hits) == limit else None
        return Page(tuple(documents.stored_of(scope, found) for found in hits), last)

    @override
    def health(self) -> IndexHealth:
        try:
            self._search({"size": 0})
        except IndexUnavailable as error:
            if _is_unknown(error):
                return IndexHealth("ok", "empty")
            waking = self._cluster.generation == "next" and error.reason.startswith(_WAKING)
            return IndexHealth("asleep" if waking else "down", error.reason)
        return IndexHealth("ok")

    def _removed(self, scope: Scope, name: str, ids: Sequence[str]) -> set[str]:
        """Delete entries and their copies from one index; return the ids that existed."""
        missing = self._bulk.delete(name, ids)
        moved = self._search(queries.stored(scope, missing), name) if missing else ()
        copies = {str(found["_id"]): documents.first_id(found) for found in moved}
        # A search may still find entries that were deleted shortly before.
        gone = set(self._bulk.delete(name, list(copies)))
        return set(ids).difference(missing) | {first for copy, first in copies.items() if copy not in gone}

    def _takes(self, dimensions: int, error: IndexUnavailable) -> bool:
        return error.retriable or self._indices.dimensions() == dimensions

    def _search(self, body: queries.SearchBody, name: str = "") -> Sequence[documents.FoundDocument]:
        answer = self._cluster.search(name or self._alias, body, self._cluster.limits.search)
        found: Sequence[documents.FoundDocument] = answer["hits"]["hits"]
        return found


def _is_unknown(error: IndexUnavailable) -> bool:
    """Tell whether the index does not exist: nothing was written, or its creation has not spread yet."""
    return error.reason.startswith("404")


def _finds_nothing(search: Search) -> bool:
    return search.kind == "document" and not search.grants
