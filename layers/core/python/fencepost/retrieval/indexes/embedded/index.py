"""The `VectorIndex` port on one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import batched
from pathlib import Path
from typing import Final, Literal, override

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.paging import Page
from fencepost.retrieval.domain.search import Hit, IndexEntry, IndexHealth, IndexUnavailable, Search, Vector
from fencepost.retrieval.indexes.embedded import meaning, partitions, words, writing
from fencepost.retrieval.indexes.embedded.database import Database
from fencepost.retrieval.indexes.embedded.matrices import Matrices, MatrixKey
from fencepost.retrieval.indexes.embedded.words import Scored
from fencepost.retrieval.indexes.entries import require_own
from fencepost.retrieval.ports import Stored, VectorIndex

WAIT_SECONDS: Final = 5.0
CACHE_BYTES: Final = 384 * 1024 * 1024
"""Room for two vectors of 384 dimensions for each of 100,000 chunks."""
ENTRIES_AT_ONCE: Final = 256
"""Entries in one transaction; other processes can write between transactions."""

_HIT = "SELECT stored_id, chunk, parent, version, model, text, context, position FROM entries WHERE id = ?"
_VISIBLE = """SELECT 1 FROM entries JOIN partitions ON partitions.id = entries.partition
    WHERE entries.stored_id = ? AND partitions.org = ?"""
_LISTED = """SELECT entries.id, stored_id, chunk, parent, partitions.owner, entries.version, model FROM entries
    JOIN partitions ON partitions.id = entries.partition
    WHERE partitions.org = :org AND entries.id > :after {named} ORDER BY entries.id LIMIT :limit"""
_NAMED = {"parent": "AND entries.parent = :parent", "owner": "AND partitions.owner = :owner"}


class EmbeddedIndex(VectorIndex):
    """Index in one SQLite file. Threads may share an instance, and processes may share the file.

    Suitable for up to 100,000 chunks. Writes are visible at once. A chunk that is written twice makes two entries.

    Args:
        path: the file; it is created if absent.
        wait_seconds: how long a writer waits for another writer.
        cache_bytes: size of the cache of vectors in memory.
    """

    def __init__(self, path: Path | str, *, wait_seconds: float = WAIT_SECONDS, cache_bytes: int = CACHE_BYTES) -> None:
        self._database = Database(Path(path), wait_seconds)
        self._matrices = Matrices(cache_bytes)

    @override
    def upsert(self, scope: Scope, entries: Sequence[IndexEntry]) -> tuple[str, ...]:
        require_own(scope, entries)
        stored: list[str] = []
        for batch in batched(entries, ENTRIES_AT_ONCE, strict=False):
            with self._database.transaction("BEGIN IMMEDIATE") as database:
                names = writing.write(database, scope, batch)
            stored += (names[place] for place in range(len(batch)))
        return tuple(stored)

    @override
    def delete(self, scope: Scope, stored_ids: Sequence[str]) -> int:
        removed = 0
        for batch in batched(stored_ids, ENTRIES_AT_ONCE, strict=False):
            with self._database.transaction("BEGIN IMMEDIATE") as database:
                removed += writing.remove(database, scope, batch)
        return removed

    @override
    def visible(self, scope: Scope, stored_ids: Sequence[str]) -> frozenset[str]:
        with self._database.transaction("BEGIN") as database:
            return frozenset(name for name in stored_ids if database.execute(_VISIBLE, (name, scope.org)).fetchone())

    @override
    def lexical(self, scope: Scope, search: Search, text: str) -> tuple[Hit, ...]:
        with self._database.transaction("BEGIN") as database:
            partition = partitions.find(database, scope, search.kind)
            return _hits(database, words.find(database, partition, search, text)) if partition else ()

    @override
    def nearest(
        self, scope: Scope, search: Search, vector: Vector, model: str, field: Literal["text", "context"] = "text"
    ) -> tuple[Hit, ...]:
        with self._database.transaction("BEGIN") as database:
            partition = partitions.find(database, scope, search.kind)
            if partition is None:
                return ()
            wanted = MatrixKey(partition.id, field, model, len(vector))
            blocks = self._matrices.blocks(database, wanted, partition.version)
            return _hits(database, meaning.find(database, partition, search, blocks, vector))

    @override
    def listed(self, scope: Scope, after: str | None, limit: int, parent: str = "", owner: str = "") -> Page[Stored]:
        wanted = {"org": scope.org, "after": int(after or 0), "limit": limit, "parent": parent, "owner": owner}
        statement = _LISTED.replace("{named}", " ".join(_NAMED[name] for name in _NAMED if wanted[name]))
        with self._database.transaction("BEGIN") as database:
            rows = database.execute(statement, wanted).fetchall()
        items = tuple(
            Stored(stored_id=s, chunk=c, parent=p, owner=o, version=v, model=m) for _, s, c, p, o, v, m in rows
        )
        return Page(items, str(rows[-1][0]) if len(rows) == limit else None)

    @override
    def health(self) -> IndexHealth:
        try:
            with self._database.transaction("BEGIN") as database:
                database.execute("SELECT 1 FROM partitions LIMIT 1").fetchone()
        except IndexUnavailable as error:
            return IndexHealth("down", error.reason)
        return IndexHealth("ok")

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def _hits(database: sqlite3.Connection, found: Sequence[Scored]) -> tuple[Hit, ...]:
    return tuple(_hit(database, number, score) for number, score in found)


def _hit(database: sqlite3.Connection, number: int, score: float) -> Hit:
    stored_id, chunk, parent, version, model, text, context, position = database.execute(_HIT, (number,)).fetchone()
    return Hit(
        stored_id=stored_id,
        chunk=chunk,
        parent=parent,
        version=version,
        model=model,
        score=score,
        text=text,
        context=context,
        position=position,
    )
