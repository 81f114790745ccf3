"""Speed of queries and ingest of the embedded index at several sizes, against plain FTS5 and one matrix product.

Texts are synthetic, with word frequencies by Zipf's law. Questions are drawn from the same words, so that every
question contains some words that are in most chunks. Vectors are random. All chunks are one organisation's documents.

Usage: python -m benchmarks.index_speed [chunks …]
"""

from __future__ import annotations

import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import batched
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Row, print_table
from fencepost.identity.domain.scope import Action, Operator, Resource, authorize
from fencepost.retrieval.domain.search import IndexEntry, Search
from fencepost.retrieval.indexes.embedded.index import EmbeddedIndex

SIZES = (1_000, 10_000, 100_000)
DIMENSIONS = 384
WORDS, WORDS_ASKED, VOCABULARY = 120, 9, 50_000
QUESTIONS = 60
ENTRIES_AT_ONCE = 256
GRANTS = frozenset({"site:*"})
SEARCH = Search(kind="document", grants=GRANTS, limit=100)
MODEL = "synthetic/384"
SCOPE = authorize(Operator("acme"), Action.WRITE, Resource("acme"))

type Vectors = NDArray[np.float32]
type Calls = Sequence[Callable[[], object]]


@dataclass(frozen=True, slots=True)
class Sample:
    """Chunks and questions: texts, and normalised vectors, one per row."""

    texts: list[str]
    vectors: Vectors
    questions: list[str]
    directions: Vectors


def main() -> None:
    """Print the table."""
    sizes = [int(argument) for argument in sys.argv[1:]] or SIZES
    print_table(row for size in sizes for row in rows(size))


def rows(size: int) -> Iterator[Row]:
    """Yield the figures at one size."""
    sample = drawn(size)
    with tempfile.TemporaryDirectory() as folder:
        index = EmbeddedIndex(Path(folder) / "index.db")
        plain = sqlite3.connect(Path(folder) / "plain.db")
        plain.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
        ours, theirs = size / seconds(partial(ingest, index, sample)), size / seconds(partial(fill, plain, sample))
        yield Row(
            f"{size:,} chunks: ingest", f"{ours:,.0f} /s", f"plain FTS5: {theirs:,.0f} /s", f"{ours / theirs:.2f}×"
        )
        by_words = [partial(index.lexical, SCOPE, SEARCH, question) for question in sample.questions]
        matched = [partial(match, plain, question) for question in sample.questions]
        yield compared(f"{size:,} chunks: by words", by_words, "plain FTS5", matched)
        nearest = [partial(index.nearest, SCOPE, SEARCH, tuple(one.tolist()), MODEL) for one in sample.directions]
        first = seconds(nearest[0])
        yield Row(f"{size:,} chunks: by meaning, the first time", f"{first * 1_000:.1f} ms")
        products = [partial(np.matmul, sample.vectors, one) for one in sample.directions]
        yield compared(f"{size:,} chunks: by meaning", nearest, "product of matrices", products)
        index.close()
        plain.close()


def drawn(size: int) -> Sample:
    """Draw a sample; deterministic."""
    random = np.random.default_rng(size)
    shares = 1 / np.arange(1, VOCABULARY + 1)
    words = np.array([f"word{number}" for number in range(VOCABULARY)])

    def texts(count: int, length: int) -> list[str]:
        picked = random.choice(VOCABULARY, size=(count, length), p=shares / shares.sum())
        return [" ".join(words[row]) for row in picked]

    return Sample(texts(size, WORDS), unit(random, size), texts(QUESTIONS, WORDS_ASKED), unit(random, QUESTIONS))


def unit(random: np.random.Generator, count: int) -> Vectors:
    """Draw normalised vectors."""
    vectors = random.standard_normal((count, DIMENSIONS), dtype=np.float32)
    lengths: Vectors = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / lengths


def ingest(index: EmbeddedIndex, sample: Sample) -> None:
    """Write all chunks."""
    for batch in batched(enumerate(sample.texts), ENTRIES_AT_ONCE, strict=False):
        index.upsert(SCOPE, [entry(number, text, sample.vectors[number]) for number, text in batch])


def entry(number: int, text: str, vector: Vectors) -> IndexEntry:
    """Return the index entry of a chunk."""
    return IndexEntry(
        chunk=f"c{number}",
        org="acme",
        owner="",
        kind="document",
        parent=f"d{number // 100}",
        version=1,
        text=text,
        model=MODEL,
        grants=GRANTS,
        vector=tuple(vector.tolist()),
    )


def fill(plain: sqlite3.Connection, sample: Sample) -> None:
    """Write all texts to an FTS5 table."""
    for batch in batched(sample.texts, ENTRIES_AT_ONCE, strict=False):
        with plain:
            plain.executemany("INSERT INTO words VALUES (?)", ((text,) for text in batch))


def match(plain: sqlite3.Connection, question: str) -> object:
    """Return FTS5's best texts that contain any of the words."""
    query = " OR ".join(question.split())
    return plain.execute("SELECT rowid FROM words(?) ORDER BY rank LIMIT 100", (query,)).fetchall()


def compared(figure: str, ours: Calls, name: str, theirs: Calls) -> Row:
    """Return the median and the 95th percentile of both calls."""
    (median, late), (other_median, other_late) = percentiles(ours), percentiles(theirs)
    return Row(
        f"{figure}, p50 / p95",
        f"{median * 1_000:.1f} / {late * 1_000:.1f} ms",
        f"{name}: {other_median * 1_000:.1f} / {other_late * 1_000:.1f} ms",
        f"{median / other_median:.2f}× / {late / other_late:.2f}×",
    )


def percentiles(calls: Calls) -> tuple[float, float]:
    """Return the median and the 95th percentile of the calls' seconds."""
    times = [seconds(call) for call in calls]
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def seconds(run: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
