"""Lexical search in the embedded index.

FTS5 finds the candidates; their score is BM25 with the statistics of the partition. Text and context are scored as one
field: term frequencies are added with the fields' weights before they saturate (Robertson and Zaragoza, *The
Probabilistic Relevance Framework*, 2009). Rarity follows Lucene's formula, which is positive for every term. FTS5's
formula is almost zero for a term in half of the entries, so it could not rank a handful of messages.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Final

from fencepost.retrieval.domain.ranking.fields import CONTEXT_WEIGHTS, TEXT_WEIGHT
from fencepost.retrieval.domain.ranking.terms import query_terms
from fencepost.retrieval.domain.search import Search
from fencepost.retrieval.indexes.embedded import partitions, schema
from fencepost.retrieval.indexes.embedded.partitions import Partition

MAX_QUERY_TERMS: Final = 400
"""Most distinct terms of a query that are looked up; further ones do not improve the result."""
MAX_POSTINGS: Final = 20_000
"""Most postings of the terms that select candidates. The rarest terms select; terms in too many entries hardly
distinguish them, but count in the score."""
CANDIDATES_PER_HIT: Final = 2
MIN_CANDIDATES: Final = 200

K1: Final = 1.2
"""Saturation of term frequencies; Lucene's default."""
B: Final = 0.75
"""Normalisation by length; Lucene's default."""

_CANDIDATES = """SELECT {words}.rowid, {words}.text, {words}.context FROM {words}
    JOIN entries ON entries.id = {words}.rowid
    WHERE {words} MATCH ? AND entries.parent <> ? AND entries.grant_set IN (SELECT value FROM json_each(?))
    ORDER BY bm25({words}, ?, ?), {words}.rowid DESC LIMIT ?"""
_RARITY = "SELECT term, entries FROM terms WHERE partition = ? AND term IN (SELECT value FROM json_each(?))"

type Scored = tuple[int, float]
"""An entry's row id and its score."""


def find(database: sqlite3.Connection, partition: Partition, search: Search, text: str) -> list[Scored]:
    """Return the entries that share a term with the text, the best first, ties with the newest first."""
    looked_up = list(query_terms(text))[:MAX_QUERY_TERMS]
    rarity: dict[str, int] = dict(database.execute(_RARITY, (partition.id, _listed(looked_up))).fetchall())
    chosen = _choosing(rarity)
    readable = partitions.readable(database, partition.id, search)
    if not chosen or not readable:
        return []
    weigher = _Weigher(partition, rarity, CONTEXT_WEIGHTS[search.kind])
    rows = _candidates(database, partition.id, search, (chosen, readable))
    scored = [(number, weigher.score(text.split(), context.split())) for number, text, context in rows]
    return sorted(scored, key=lambda pair: (-pair[1], -pair[0]))[: search.limit]


def _choosing(rarity: Mapping[str, int]) -> list[str]:
    """Return the rarest terms, at least one, with at most `MAX_POSTINGS` postings in all."""
    chosen: list[str] = []
    postings = 0
    for term in sorted(rarity, key=lambda term: (rarity[term], term)):
        postings += rarity[term]
        if chosen and postings > MAX_POSTINGS:
            break
        chosen.append(term)
    return chosen


def _candidates(
    database: sqlite3.Connection, partition: int, search: Search, wanted: tuple[list[str], list[int]]
) -> Iterator[tuple[int, str, str]]:
    chosen, readable = wanted
    # FTS5 takes a quoted term as text; terms hold no quotation marks.
    match = " OR ".join(f'"{term}"' for term in chosen)
    most = max(MIN_CANDIDATES, CANDIDATES_PER_HIT * search.limit)
    values = (match, search.exclude_parent, _listed(readable), TEXT_WEIGHT, CONTEXT_WEIGHTS[search.kind], most)
    return database.execute(schema.of(partition, _CANDIDATES), values)


def _listed(values: list[str] | list[int]) -> str:
    """Return values as a parameter of SQLite's `json_each`."""
    return json.dumps(values)


class _Weigher:
    """BM25 with the statistics of one partition."""

    def __init__(self, partition: Partition, rarity: Mapping[str, int], context_weight: float) -> None:
        count = partition.entries
        self._worth = {term: math.log(1 + (count - n + 0.5) / (n + 0.5)) for term, n in rarity.items()}
        self._usual_length = partition.terms / count
        self._weights = TEXT_WEIGHT, context_weight

    def score(self, text: list[str], context: list[str]) -> float:
        """Return the score of an entry with these terms."""
        frequency = dict.fromkeys(self._worth, 0.0)
        for weight, words in zip(self._weights, (text, context), strict=True):
            for word in words:
                if word in frequency:
                    frequency[word] += weight
        saturation = K1 * (1 - B + B * (len(text) + len(context)) / self._usual_length)
        return sum(self._worth[term] * (K1 + 1) * tf / (saturation + tf) for term, tf in frequency.items())
