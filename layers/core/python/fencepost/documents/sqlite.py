"""Ranks sections by BM25 with an SQLite full-text index in memory, of one document set at a time."""

from __future__ import annotations

import sqlite3
from threading import Lock
from typing import override

from fencepost.documents.domain.sections import DocumentSet
from fencepost.documents.ports import SectionRanker
from fencepost.prompting.domain.fence import Section
from fencepost.retrieval.domain.ranking.terms import terms

TITLE_WEIGHT = 2.0
"""Weight of a term in a title, relative to the same term in the text."""
MAX_QUERY_TERMS = 400
"""Maximum number of distinct query terms that are looked up; more would not improve the ranking."""

_CREATE = "CREATE VIRTUAL TABLE sections USING fts5(title, text, content='', tokenize='unicode61')"
_INSERT = "INSERT INTO sections(rowid, title, text) VALUES (?, ?, ?)"
_RANK = "SELECT rowid FROM sections WHERE sections MATCH ? ORDER BY bm25(sections, ?, 1.0), rowid"


class FullTextRanker(SectionRanker):
    """Ranks with SQLite FTS5. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._indexed = ""
        self._database: sqlite3.Connection | None = None

    @override
    def rank(self, query: str, documents: DocumentSet) -> list[Section]:
        """Return the sections that share a term with the query by descending BM25 score; ties in document order."""
        wanted = list(dict.fromkeys(terms(query)))[:MAX_QUERY_TERMS]
        if not wanted or not documents.sections:
            return []
        # FTS5 reads quoted terms as plain text. Terms contain no quotation marks.
        match = " OR ".join(f'"{term}"' for term in wanted)
        with self._lock:
            rows = self._index(documents).execute(_RANK, (match, TITLE_WEIGHT)).fetchall()
        return [documents.sections[position] for (position,) in rows]

    def _index(self, documents: DocumentSet) -> sqlite3.Connection:
        if self._database is None or self._indexed != documents.content_hash:
            if self._database is not None:
                self._database.close()
            self._database, self._indexed = _build(documents), documents.content_hash
        return self._database


def _build(documents: DocumentSet) -> sqlite3.Connection:
    # The lock around every use makes sharing between threads safe.
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute(_CREATE)
    rows = ((n, _tokenised(s.title), _tokenised(s.text)) for n, s in enumerate(documents.sections))
    with database:
        database.executemany(_INSERT, rows)
    return database


def _tokenised(text: str) -> str:
    return " ".join(terms(text))
