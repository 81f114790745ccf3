"""Partitions of the embedded index: the entries of one organisation, kind and owner, which a search is confined to."""

from __future__ import annotations

import json
import secrets
import sqlite3
from dataclasses import dataclass

from fencepost.identity.domain.scope import Scope
from fencepost.retrieval.domain.search import EntryKind, Search
from fencepost.retrieval.indexes.embedded import schema
from fencepost.retrieval.indexes.entries import owner_of

_NUMBER_BITS = 62

_FIND = """SELECT id, version, entries, terms FROM partitions
    WHERE org = ? AND kind = ? AND owner = ?"""
_MAKE = "INSERT INTO partitions(id, org, kind, owner) VALUES (?, ?, ?, ?)"
_CHANGE = """UPDATE partitions SET version = version + 1, entries = entries + ?, terms = terms + ?
    WHERE id = ? RETURNING entries"""
_DROP = ("DELETE FROM grant_sets WHERE partition = ?", "DELETE FROM terms WHERE partition = ?")


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition as of the current transaction.

    Attributes:
        id: random number.
        version: raised by every change; cached vectors are valid for one version.
        entries: number of entries.
        terms: number of terms of all entries, text and context, repetitions included.
    """

    id: int
    version: int
    entries: int
    terms: int


@dataclass(frozen=True, slots=True)
class Change:
    """Numbers to add to a partition's counts; negative for removals."""

    entries: int = 0
    terms: int = 0

    def __add__(self, other: Change) -> Change:
        return Change(self.entries + other.entries, self.terms + other.terms)


def find(database: sqlite3.Connection, scope: Scope, kind: EntryKind) -> Partition | None:
    """Return the partition that a scope may search; None if it has no entries."""
    row = database.execute(_FIND, (scope.org, kind, owner_of(scope, kind))).fetchone()
    return Partition(*row) if row else None


def find_or_make(database: sqlite3.Connection, scope: Scope, kind: EntryKind) -> int:
    """Return the id of the partition that a scope writes to; it is created if absent."""
    found = find(database, scope, kind)
    if found:
        return found.id
    made = secrets.randbits(_NUMBER_BITS)
    database.execute(_MAKE, (made, scope.org, kind, owner_of(scope, kind)))
    database.execute(schema.of(made, schema.WORDS))
    return made


def change(database: sqlite3.Connection, partition: int, by: Change) -> None:
    """Add to a partition's counts; a partition without entries is dropped, with its grants and terms."""
    row = database.execute(_CHANGE, (by.entries, by.terms, partition)).fetchone()
    if row == (0,):
        for statement in _DROP:
            database.execute(statement, (partition,))
        database.execute(schema.of(partition, "DROP TABLE {words}"))
        database.execute("DELETE FROM partitions WHERE id = ?", (partition,))


def grant_set(database: sqlite3.Connection, partition: int, grants: frozenset[str]) -> int:
    """Return the id of a set of grants in a partition; it is created if absent."""
    key = (partition, json.dumps(sorted(grants)))
    database.execute("INSERT OR IGNORE INTO grant_sets(partition, names) VALUES (?, ?)", key)
    (number,) = database.execute("SELECT id FROM grant_sets WHERE partition = ? AND names = ?", key).fetchone()
    return int(number)


def readable(database: sqlite3.Connection, partition: int, search: Search) -> list[int]:
    """Return the ids of the sets of grants that a search may read."""
    rows = database.execute("SELECT id, names FROM grant_sets WHERE partition = ?", (partition,))
    # Messages have no grants: their partition belongs to the owner.
    return [number for number, names in rows if search.kind == "message" or search.grants & set(json.loads(names))]
