"""Migration to another mapping or another embedding model, without interrupting searches.

The new index is filled beside the old one, and then the alias is moved in one step, so each search sees one complete
index. Concurrent writes and deletions are copied in rounds: both indices are compared until they agree, and again after
the alias has moved, because entries may be written to the old index until then. A migration may be interrupted
anywhere and started again.

This is maintenance of the whole deployment: it takes no scope, covers all organisations, and returns no content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Final

from fencepost.retrieval.domain.search import IndexEntry, IndexUnavailable
from fencepost.retrieval.indexes.opensearch import documents, queries
from fencepost.retrieval.indexes.opensearch.bulk import Bulk
from fencepost.retrieval.indexes.opensearch.mapping import IndexPlan
from fencepost.retrieval.indexes.opensearch.setup import Indices

PAGE: Final = 1_000
COPIED_AT_ONCE: Final = 50
"""Entries in one batch that is read, converted and written."""
NEARLY: Final = 100
"""Changes in a round below which the alias is moved; the remaining rounds follow."""
MOST_ROUNDS: Final = 50

type Convert = Callable[[Sequence[IndexEntry]], Sequence[IndexEntry]]
"""Returns the new entries for old ones, in order, unchanged or with vectors of another model."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Numbers of entries that were copied, and of copies that were removed again."""

    copied: int = 0
    removed: int = 0

    def __add__(self, other: Moved) -> Moved:
        return Moved(self.copied + other.copied, self.removed + other.removed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """A migration of all entries to a new index.

    Args:
        plan: the new index.
        bulk: writes to the cluster.
        convert: makes the entries of the new index.
        settle: waits until writes are visible to searches: a minute on a classic collection.
    """

    plan: IndexPlan
    bulk: Bulk
    convert: Convert
    settle: Callable[[], None]

    def run(self) -> Moved:
        """Copy all entries to the new index, point the alias at it, and remove the old indices.

        Raises:
            IndexUnavailable: the cluster did not answer; another run continues the migration.
        """
        indices = Indices(self.bulk.cluster, self.plan.alias)
        current = indices.current()
        indices.create(self.plan)
        moved = Moved()
        # The index that is searched comes first; others are left over from abandoned migrations.
        olds = sorted((name for name in indices.all() if name != self.plan.name), key=lambda name: name != current)
        for old in olds:
            moved += self._catch_up(old, NEARLY)
            indices.point_to(self.plan.name)
            moved += self._catch_up(old, 0)
            indices.drop(old)
        indices.point_to(self.plan.name)
        return moved

    def _catch_up(self, old: str, enough: int) -> Moved:
        moved = Moved()
        for _ in range(MOST_ROUNDS):
            self.settle()
            done = self._round(old)
            moved += done
            changed = done.copied + done.removed
            if changed <= enough:
                # The alias moves next: the latest copies must be visible by then.
                self.settle() if changed else None
                return moved
        raise IndexUnavailable("more is written than can be moved")

    def _round(self, old: str) -> Moved:
        """Copy missing entries, and remove copies of deleted entries and duplicate copies."""
        source = {found["_source"]["entry"] for found in self._all(old)}
        there: set[str] = set()
        surplus: list[str] = []
        for found in self._all(self.plan.name):
            entry, origin = found["_source"]["entry"], found["_source"].get("copied_from")
            if origin == old and (entry not in source or entry in there):
                surplus.append(found["_id"])
            there.add(entry)
        self.bulk.delete(self.plan.name, surplus)
        return Moved(self._copy(old, source - there), len(surplus))

    def _all(self, name: str) -> Iterator[documents.FoundDocument]:
        after = None
        while True:
            body = queries.listed({"match_all": {}}, after, PAGE, ["entry", "copied_from"])
            hits = self._search(name, body)
            yield from hits
            if len(hits) < PAGE:
                return
            after = hits[-1]["_source"]["entry"]

    def _copy(self, old: str, entries: Iterable[str]) -> int:
        copied = 0
        for batch in batched(sorted(entries), COPIED_AT_ONCE, strict=False):
            body = {"size": len(batch), "query": {"terms": {"entry": list(batch)}}}
            found = self._search(old, body)
            converted = self.convert([documents.entry_of(one["_source"]) for one in found])
            copies = [
                documents.document_of(entry)
                | {"entry": one["_source"]["entry"], "first_id": documents.first_id(one), "copied_from": old}
                for one, entry in zip(found, converted, strict=True)
            ]
            self.bulk.index(self.plan.name, copies)
            copied += len(found)
        return copied

    def _search(self, name: str, body: queries.SearchBody) -> Sequence[documents.FoundDocument]:
        cluster = self.bulk.cluster
        found: Sequence[documents.FoundDocument] = cluster.search(name, body, cluster.limits.write)["hits"]["hits"]
        return found
