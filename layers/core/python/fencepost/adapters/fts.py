"""Relevance by SQLite's full-text index: BM25 in memory, for one set of documents at a time."""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from threading import Lock

from fencepost.domain.documents import DocumentSet, Section

TITLE_WEIGHT = 2.0
"""How much a word in a title counts against the same word in the text."""
MAX_QUERY_TERMS = 400
"""Different terms of a query that are looked up; a longer one says nothing more."""

# Scripts written without spaces between words, and Korean, whose particles cling to them.
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Kana
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
)
_RUN = re.compile(f"([{_SPACELESS}]+)|([^\\W_{_SPACELESS}]+)")

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
        terms = list(dict.fromkeys(_terms(query)))[:MAX_QUERY_TERMS]
        if not terms or not documents.sections:
            return []
        # Quoted, a term is only ever text to FTS5; terms hold no quotation marks.
        match = " OR ".join(f'"{term}"' for term in terms)
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
    return " ".join(_terms(text))


def _terms(text: str) -> Iterator[str]:
    """Yield words, casefolded, and character bigrams of scripts without spaces."""
    for spaceless, word in _RUN.findall(unicodedata.normalize("NFKC", text).casefold()):
        if len(spaceless) > 1:
            yield from map("".join, pairwise(spaceless))
        else:
            yield spaceless or word
