"""The tables of the embedded index.

A partition holds the entries of one organisation, kind and owner; a search is confined to one. Each partition has its
own full-text table (`words_<partition>`), so term rarity depends on its entries only, and a ranking reveals nothing
about other owners' entries. Erasing a partition erases its postings.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = 1
"""Version of the tables, stored as the file's `user_version`."""

PAGE_BYTES: Final = 16_384
"""A row with two vectors of a thousand dimensions fits."""

TABLES: Final = (
    # Ids are random, so vectors that are cached under one never belong to another partition, even in a new file.
    """CREATE TABLE partitions(
        id INTEGER PRIMARY KEY, org TEXT NOT NULL, kind TEXT NOT NULL, owner TEXT NOT NULL,
        version INTEGER NOT NULL DEFAULT 0, entries INTEGER NOT NULL DEFAULT 0,
        terms INTEGER NOT NULL DEFAULT 0, UNIQUE(org, kind, owner))""",
    """CREATE TABLE grant_sets(
        id INTEGER PRIMARY KEY, partition INTEGER NOT NULL, names TEXT NOT NULL, UNIQUE(partition, names))""",
    # The long columns come last, so that reading the others does not have to skip them.
    """CREATE TABLE entries(
        id INTEGER PRIMARY KEY AUTOINCREMENT, partition INTEGER NOT NULL, grant_set INTEGER NOT NULL,
        stored_id TEXT NOT NULL UNIQUE, chunk TEXT NOT NULL, parent TEXT NOT NULL, version INTEGER NOT NULL,
        position INTEGER NOT NULL, model TEXT NOT NULL, text TEXT NOT NULL, context TEXT NOT NULL)""",
    "CREATE INDEX entries_by_parent ON entries(partition, parent)",
    # A search reads all vectors of a partition, so they are stored together. Values are float32, little-endian.
    """CREATE TABLE vectors(
        partition INTEGER NOT NULL, field TEXT NOT NULL, model TEXT NOT NULL, entry INTEGER NOT NULL,
        value BLOB NOT NULL, PRIMARY KEY(partition, field, model, entry)) WITHOUT ROWID""",
    # The number of entries of a partition that hold a term.
    """CREATE TABLE terms(
        partition INTEGER NOT NULL, term TEXT NOT NULL, entries INTEGER NOT NULL,
        PRIMARY KEY(partition, term)) WITHOUT ROWID""",
)

# Texts are terms separated by spaces. The tokeniser takes non-ASCII characters as parts of terms and changes nothing.
WORDS: Final = "CREATE VIRTUAL TABLE {words} USING fts5(text, context, tokenize = 'ascii')"


def of(partition: int, statement: str) -> str:
    """Put the name of a partition's full-text table into a statement."""
    return statement.replace("{words}", f"words_{partition:d}")
