"""Retrieval quality: words alone, vectors alone, the deployed ranking, and the whole file.

    python -m benchmarks.retrieval_quality [--ablations]

Entries are built, indexed, searched and ranked by the deployed code, with the embedded index and the local embedder.
R@10 is the share of a question's known passages among the first ten results; nDCG@10 also counts how high they rank.
The figures of the two halves (questions at even and at odd positions) show the influence of chance. Strangers are
questions about other subjects, for which the best result is no passage. Tokens are counted by the upper bound with
which spend is reserved (`fencepost.model.domain`). Vectors are cached in `$FENCEPOST_BENCH_CACHE`; computing them
takes about an hour on two cores in the first run.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from benchmarks.report import Row, print_table
from benchmarks.retrieval_recipes import OURS, VECTORS_ALONE, WANTED, WORDS_ALONE, Recipe, searchable, unit_of
from benchmarks.retrieval_sets import UNANSWERABLE, Case, DataSet, data_sets
from benchmarks.retrieval_vectors import RememberedVectors
from fencepost.model.domain import count_tokens
from fencepost.retrieval.domain.ranking.fusion import Ranked, Weights
from fencepost.retrieval.domain.search import EntryKind

ROWS: Final[Mapping[str, Recipe]] = {"words alone": WORDS_ALONE, "vectors alone": VECTORS_ALONE, "ours": OURS}
ABLATIONS: Final[Mapping[str, Recipe]] = {
    "without vectors": replace(OURS, nearest=False),
    "without words": replace(OURS, lexical=False),
    "without stems and stop words": replace(OURS, analysis=False),
    "without context": replace(OURS, context=False),
    "without shared wording": replace(OURS, weights=Weights(wording=0)),
    "without diversity": replace(OURS, diverse=False),
    "without the floor": replace(OURS, floor=False),
    "30 hits of each list": replace(OURS, limit=30),
    # Relevance cannot be determined from ranks alone.
    "ranks in place of scores": replace(OURS, by_ranks=True, floor=False),
}
OF_KIND: Final[Mapping[EntryKind, Mapping[str, Recipe]]] = {
    "document": {
        "without the address's words": replace(OURS, address=False),
        "without chunking": replace(OURS, chunks=False),
    },
    "message": {
        "without days": replace(OURS, days=False),
        "without neighbours in the vector": replace(OURS, beside=False),
        "without the speaker's bonus": replace(OURS, weights=Weights(speaker=0)),
    },
}


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one question."""

    case: Case
    recall: float
    ndcg: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Results:
    """The results of all questions. `strangers` has, for each stranger, whether it got passages."""

    cases: Sequence[Result]
    strangers: Sequence[bool]

    @property
    def answerable(self) -> Sequence[Result]:
        """The results of questions that have an answer."""
        return [result for result in self.cases if result.case.category != UNANSWERABLE]


def main(arguments: Sequence[str]) -> None:
    """Print a table for each data set."""
    vectors = RememberedVectors()
    for name, some in data_sets().items():
        print(f"\n### {name}\n")
        removed = {**ABLATIONS, **OF_KIND[some[0].kind]} if "--ablations" in arguments else {}
        print_table(_table(some, {**ROWS, **removed}, vectors))


def _table(some: Sequence[DataSet], recipes: Mapping[str, Recipe], vectors: RememberedVectors) -> Iterator[Row]:
    whole = statistics.fmean(sum(count_tokens(f"{u.title}\n{u.text}") for u in data_set.units) for data_set in some)
    base = 0.0
    for name, recipe in recipes.items():
        results = _results(some, recipe, vectors)
        recall = _recall(results.answerable)
        base = base or recall
        halves = " / ".join(f"{_recall(results.answerable[half::2]):.3f}" for half in (0, 1))
        yield Row(f"{name}: R@10", f"{recall:.3f} ({halves})", f"words alone: {base:.3f}", f"{recall / base:.2f}")
        yield Row(f"{name}: nDCG@10", f"{_ndcg(results.answerable):.3f}")
        if results.strangers:
            yield Row(f"{name}: strangers given passages", f"{statistics.fmean(results.strangers):.3f}")
        tokens = statistics.fmean(result.tokens for result in results.answerable)
        yield Row(
            f"{name}: tokens of an answer", f"{tokens:,.0f}", f"whole file: {whole:,.0f}", f"1/{whole / tokens:.0f}"
        )
        yield from _categories(name, results.cases)
    yield Row("whole file: tokens", f"{whole:,.0f}")


def _categories(name: str, results: Sequence[Result]) -> Iterator[Row]:
    categories = defaultdict[str, list[Result]](list)
    for result in results:
        categories[result.case.category].append(result)
    for category, part in sorted(categories.items()):
        if category:
            yield Row(f"{name}: R@10, {category}", f"{_recall(part):.3f}", f"{len(part)} questions")


def _results(some: Sequence[DataSet], recipe: Recipe, vectors: RememberedVectors) -> Results:
    cases, strangers = list[Result](), list[bool]()
    for data_set in some:
        with searchable(data_set, recipe, vectors) as find:
            cases += [_result(data_set, case, find(case.question)) for case in data_set.cases]
            strangers += [bool(find(question)) for question in data_set.strangers]
    return Results(cases, strangers)


def _result(data_set: DataSet, case: Case, found: Sequence[Ranked]) -> Result:
    gains = [unit_of(data_set, each.hit) in case.gold for each in found]
    best = _gain([True] * min(len(case.gold), WANTED))
    tokens = sum(
        count_tokens(f"{each.hit.context if data_set.kind == 'document' else ''}\n{each.hit.text}") for each in found
    )
    return Result(case, sum(gains) / len(case.gold), _gain(gains) / best, tokens)


def _gain(gains: Sequence[bool]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


def _recall(results: Sequence[Result]) -> float:
    return statistics.fmean(result.recall for result in results)


def _ndcg(results: Sequence[Result]) -> float:
    return statistics.fmean(result.ndcg for result in results)


if __name__ == "__main__":
    main(sys.argv[1:])
