"""Moving to another mapping or another model while searches go on.

The new index is filled behind the old one; then the alias is moved, in one step. Searches see one whole index or the
other, and never none. What is written or deleted meanwhile is caught up with: the two are compared, again and again,
until they agree, and once more when the alias has moved: what is written while it moves is found after that round. All
of it may break off anywhere and be started again.

This is the deployment's own maintenance, of all organisations: it takes no scope and returns nobody's words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any, Final

from fencepost.retrieval.domain.search import IndexEntry, IndexUnavailable
from fencepost.retrieval.indexes.opensearch import documents, queries
from fencepost.retrieval.indexes.opensearch.bulk import Bulk
from fencepost.retrieval.indexes.opensearch.mapping import IndexPlan
from fencepost.retrieval.indexes.opensearch.setup import Indices

PAGE: Final = 1_000
COPIED_AT_ONCE: Final = 50
"""Entries that are read, converted and written together."""
NEARLY: Final = 100
"""Changes that one round may still find when the alias is moved: the last rounds come after it."""
MOST_ROUNDS: Final = 50

type Convert = Callable[[Sequence[IndexEntry]], Sequence[IndexEntry]]
"""Makes new entries of old ones, in order: with vectors of another model, or as they are."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What was done: entries that were copied, and copies that were removed again."""

    copied: int = 0
    removed: int = 0

    def __add__(self, other: Moved) -> Moved:
        return Moved(self.copied + other.copied, self.removed + other.removed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """A move of all entries to a new index.

    Args:
        plan: of the new index.
        bulk: how it writes, and where.
        convert: what becomes of the entries on their way.
        settle: waits until what was written can be found: a minute on a classic collection.
    """

    plan: IndexPlan
    bulk: Bulk
    convert: Convert
    settle: Callable[[], None]

    def run(self) -> Moved:
        """Move all entries, and remove the indices that they came from.

        Raises:
            IndexUnavailable: the cluster did not answer; started again, it goes on.
        """
        indices = Indices(self.bulk.cluster, self.plan.alias)
        current = indices.current()
        indices.create(self.plan)
        moved = Moved()
        # The one that is searched comes first; others are what a move that was given up left behind.
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
                # The alias moves next: what was copied last must be found by then.
                self.settle() if changed else None
                return moved
        raise IndexUnavailable("more is written than can be moved")

    def _round(self, old: str) -> Moved:
        """Copy what is missing behind, and remove what was copied and is gone, or was copied twice."""
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
            self.bulk.index(self.plan.name, self._copies(old, found))
            copied += len(found)
        return copied

    def _copies(self, old: str, found: Sequence[documents.FoundDocument]) -> list[dict[str, Any]]:
        converted = self.convert([documents.entry_of(one["_source"]) for one in found])
        return [
            documents.document_of(entry)
            | {"entry": one["_source"]["entry"], "first_id": documents.first_id(one), "copied_from": old}
            for one, entry in zip(found, converted, strict=True)
        ]

    def _search(self, name: str, body: queries.SearchBody) -> Sequence[documents.FoundDocument]:
        cluster = self.bulk.cluster
        found: Sequence[documents.FoundDocument] = cluster.search(name, body, cluster.limits.write)["hits"]["hits"]
        return found
