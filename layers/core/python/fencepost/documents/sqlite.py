"""Relevance by SQLite's full-text index: BM25 in memory, for one set of documents at a time."""

from __future__ import annotations

import sqlite3
from threading import Lock

from fencepost.documents.domain.sections import DocumentSet
from fencepost.prompting.domain.fence import Section
from fencepost.retrieval.domain.ranking.terms import terms

TITLE_WEIGHT = 2.0
"""How much a word in a title counts against the same word in the text."""
MAX_QUERY_TERMS = 400
"""Different terms of a query that are looked up; a longer one says nothing more."""

_CREATE = "CREATE VIRTUAL TABLE sections USING fts5(title, text, content='', tokenize='unicode61')"
_INSERT = "INSERT INTO sections(rowid, title, text) VALUES (?, ?, ?)"
_RANK = "SELECT rowid FROM sections WHERE sections MATCH ? ORDER BY bm25(sections, ?, 1.0), rowid"


class FullTextRanker:
    """The `SectionRanker` port on SQLite FTS5. Threads may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._indexed = ""
        self._database: sqlite3.Connection | None = None

    def rank(self, query: str, documents: DocumentSet) -> list[Section]:
        """Return the sections that share a term with the query, the best BM25 score first, ties in document order."""
        asked = list(dict.fromkeys(terms(query)))[:MAX_QUERY_TERMS]
        if not asked or not documents.sections:
            return []
        # Quoted, a term is only ever text to FTS5; terms hold no quotation marks.
        match = " OR ".join(f'"{term}"' for term in asked)
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
    # The lock around every use allows what the check would forbid.
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute(_CREATE)
    rows = ((n, _tokenised(s.title), _tokenised(s.text)) for n, s in enumerate(documents.sections))
    with database:
        database.executemany(_INSERT, rows)
    return database


def _tokenised(text: str) -> str:
    return " ".join(terms(text))
