"""The tables of the embedded index.

A partition holds what one search may compare: the entries of one organisation, kind and owner. It has a full-text
table of its own (`words_<partition>`), so that how rare a word is follows from the partition's entries alone: nobody's
ranking tells what others have. What is erased with its partition takes its postings along.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = 1
"""Of the tables, as the file's `user_version`."""

PAGE_BYTES: Final = 16_384
"""A row with two vectors of a thousand dimensions fits."""

TABLES: Final = (
    # The numbers are random: what is cached under one cannot be mistaken for another's, whatever happens to the file.
    """CREATE TABLE partitions(
        id INTEGER PRIMARY KEY, org TEXT NOT NULL, kind TEXT NOT NULL, owner TEXT NOT NULL,
        version INTEGER NOT NULL DEFAULT 0, entries INTEGER NOT NULL DEFAULT 0,
        terms INTEGER NOT NULL DEFAULT 0, UNIQUE(org, kind, owner))""",
    """CREATE TABLE grant_sets(
        id INTEGER PRIMARY KEY, partition INTEGER NOT NULL, names TEXT NOT NULL, UNIQUE(partition, names))""",
    # The long columns come last: whoever reads the others does not walk over them.
    """CREATE TABLE entries(
        id INTEGER PRIMARY KEY AUTOINCREMENT, partition INTEGER NOT NULL, grant_set INTEGER NOT NULL,
        stored_id TEXT NOT NULL UNIQUE, chunk TEXT NOT NULL, parent TEXT NOT NULL, version INTEGER NOT NULL,
        position INTEGER NOT NULL, model TEXT NOT NULL, text TEXT NOT NULL, context TEXT NOT NULL)""",
    "CREATE INDEX entries_by_parent ON entries(partition, parent)",
    # A search reads all vectors of a partition, so these lie together. Values are float32, little-endian.
    """CREATE TABLE vectors(
        partition INTEGER NOT NULL, field TEXT NOT NULL, model TEXT NOT NULL, entry INTEGER NOT NULL,
        value BLOB NOT NULL, PRIMARY KEY(partition, field, model, entry)) WITHOUT ROWID""",
    # In how many entries of a partition a term is.
    """CREATE TABLE terms(
        partition INTEGER NOT NULL, term TEXT NOT NULL, entries INTEGER NOT NULL,
        PRIMARY KEY(partition, term)) WITHOUT ROWID""",
)

# Texts come as terms with spaces between: whatever is no ASCII belongs to a term, and the tokeniser changes nothing.
WORDS: Final = "CREATE VIRTUAL TABLE {words} USING fts5(text, context, tokenize = 'ascii')"


def of(partition: int, statement: str) -> str:
    """Put the name of a partition's full-text table into a statement."""
    return statement.replace("{words}", f"words_{partition:d}")
