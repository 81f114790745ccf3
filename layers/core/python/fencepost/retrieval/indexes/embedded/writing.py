"""Writing entries to the embedded index, and removing them."""

from __future__ import annotations

import secrets
import sqlite3
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter

from fencepost.identity.domain.scope import Scope
from fencepost.retrieval.domain.ranking.terms import index_terms
from fencepost.retrieval.domain.search import IndexEntry
from fencepost.retrieval.indexes.embedded import partitions, schema
from fencepost.retrieval.indexes.embedded.partitions import Change

_STORED_ID_BYTES = 16

_ENTRY = """INSERT INTO entries(partition, grant_set, stored_id, chunk, parent, version, position, model, text, context)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"""
_WORDS = "INSERT INTO {words}(rowid, text, context) VALUES (?, ?, ?)"
_VECTOR = "INSERT INTO vectors(partition, field, model, entry, value) VALUES (?, ?, ?, ?, ?)"
_COUNT = """INSERT INTO terms(partition, term, entries) VALUES (?, ?, ?)
    ON CONFLICT(partition, term) DO UPDATE SET entries = entries + excluded.entries"""
_UNCOUNTED = "DELETE FROM terms WHERE partition = ? AND term = ? AND entries <= 0"
_OWN = """SELECT entries.partition, entries.id, entries.model FROM entries
    JOIN partitions ON partitions.id = entries.partition WHERE entries.stored_id = ? AND partitions.org = ?"""


def write(database: sqlite3.Connection, scope: Scope, entries: Sequence[IndexEntry]) -> dict[int, str]:
    """Write entries, and return their stored ids, by position."""
    stored: dict[int, str] = {}
    numbered = sorted(enumerate(entries), key=lambda pair: pair[1].kind)
    for kind, group in groupby(numbered, key=lambda pair: pair[1].kind):
        partition = partitions.find_or_make(database, scope, kind)
        stored |= _write(database, partition, list(group))
    return stored


def remove(database: sqlite3.Connection, scope: Scope, stored_ids: Iterable[str]) -> int:
    """Remove the organisation's entries among these ids, and return how many existed."""
    found = [row for name in set(stored_ids) for row in database.execute(_OWN, (name, scope.org))]
    for partition, group in groupby(sorted(found), key=itemgetter(0)):
        _remove(database, partition, [(entry, model) for _, entry, model in group])
    return len(found)


def _write(database: sqlite3.Connection, partition: int, entries: list[tuple[int, IndexEntry]]) -> dict[int, str]:
    stored, counted, total = {}, Counter[str](), Change()
    for place, entry in entries:
        stored[place] = secrets.token_hex(_STORED_ID_BYTES)
        number = _write_entry(database, partition, stored[place], entry)
        text, context = list(index_terms(entry.text)), list(index_terms(entry.context))
        database.execute(schema.of(partition, _WORDS), (number, " ".join(text), " ".join(context)))
        counted.update({*text, *context})
        total += Change(1, len(text) + len(context))
    _count(database, partition, counted, 1)
    partitions.change(database, partition, total)
    return stored


def _write_entry(database: sqlite3.Connection, partition: int, stored_id: str, entry: IndexEntry) -> int:
    grants = partitions.grant_set(database, partition, entry.grants)
    of_parent = (entry.chunk, entry.parent, entry.version, entry.position, entry.model)
    row = (partition, grants, stored_id, *of_parent, entry.text, entry.context)
    (number,) = database.execute(_ENTRY, row).fetchone()
    for field, vector in (("text", entry.vector), ("context", entry.context_vector)):
        if vector:
            values = array("f", vector)
            if sys.byteorder == "big":
                values.byteswap()
            database.execute(_VECTOR, (partition, field, entry.model, number, values.tobytes()))
    return int(number)


def _remove(database: sqlite3.Connection, partition: int, entries: list[tuple[int, str]]) -> None:
    counted, total = Counter[str](), Change()
    for entry, model in entries:
        words = database.execute(schema.of(partition, "SELECT text, context FROM {words} WHERE rowid = ?"), (entry,))
        text, context = (column.split() for column in words.fetchone())
        counted.update({*text, *context})
        total += Change(-1, -len(text) - len(context))
        database.execute(schema.of(partition, "DELETE FROM {words} WHERE rowid = ?"), (entry,))
        vectors = ((partition, field, model, entry) for field in ("text", "context"))
        database.executemany("DELETE FROM vectors WHERE (partition, field, model, entry) = (?, ?, ?, ?)", vectors)
        database.execute("DELETE FROM entries WHERE id = ?", (entry,))
    _count(database, partition, counted, -1)
    partitions.change(database, partition, total)


def _count(database: sqlite3.Connection, partition: int, counted: Counter[str], sign: int) -> None:
    rows = sorted(counted.items())
    database.executemany(_COUNT, ((partition, term, sign * entries) for term, entries in rows))
    if sign < 0:
        database.executemany(_UNCOUNTED, ((partition, term) for term, _ in rows))
