"""Whether the right passages are found: words alone, vectors alone, ours, and the whole file.

    python -m benchmarks.retrieval_quality [--ablations]

Entries are composed, indexed, searched and ranked by the code that ships, with the embedded index and the local
embedder. R@10 is the share of a question's known passages among the first ten, nDCG@10 how high they stand there. The
figures of the two halves (the questions at even and at odd places) tell how far chance goes. Strangers are questions
about other things, which are best left without passages. Tokens are the bound that the bill is reserved by
(`fencepost.model.domain`). Vectors are kept in `$FENCEPOST_BENCH_CACHE`; making them takes the first
run about an hour on two processors.
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
from benchmarks.retrieval_sets import UNANSWERABLE, Case, Shelf, shelves
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
    # Ranks alone do not tell what is relevant.
    "ranks in place of scores": replace(OURS, by_ranks=True, floor=False),
}
OF_KIND: Final[Mapping[EntryKind, Mapping[str, Recipe]]] = {
    "document": {
        "without the address's words": replace(OURS, address=False),
        "without cutting": replace(OURS, pieces=False),
    },
    "message": {
        "without days": replace(OURS, days=False),
        "without neighbours in the vector": replace(OURS, beside=False),
        "without the speaker's bonus": replace(OURS, weights=Weights(speaker=0)),
    },
}


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one question."""

    case: Case
    recall: float
    ndcg: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Results:
    """What came of all questions. `strangers` tells of each whether it was given passages."""

    cases: Sequence[Result]
    strangers: Sequence[bool]

    @property
    def answerable(self) -> Sequence[Result]:
        """Those of questions that have an answer."""
        return [result for result in self.cases if result.case.category != UNANSWERABLE]


def main(arguments: Sequence[str]) -> None:
    """Print a table for each data set."""
    vectors = RememberedVectors()
    for name, some in shelves().items():
        print(f"\n### {name}\n")
        removed = {**ABLATIONS, **OF_KIND[some[0].kind]} if "--ablations" in arguments else {}
        print_table(_table(some, {**ROWS, **removed}, vectors))


def _table(some: Sequence[Shelf], recipes: Mapping[str, Recipe], vectors: RememberedVectors) -> Iterator[Row]:
    whole = statistics.fmean(sum(count_tokens(f"{u.title}\n{u.text}") for u in shelf.units) for shelf in some)
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


def _results(some: Sequence[Shelf], recipe: Recipe, vectors: RememberedVectors) -> Results:
    cases, strangers = list[Result](), list[bool]()
    for shelf in some:
        with searchable(shelf, recipe, vectors) as find:
            cases += [_result(shelf, case, find(case.question)) for case in shelf.cases]
            strangers += [bool(find(question)) for question in shelf.strangers]
    return Results(cases, strangers)


def _result(shelf: Shelf, case: Case, found: Sequence[Ranked]) -> Result:
    gains = [unit_of(shelf, each.hit) in case.gold for each in found]
    best = _gain([True] * min(len(case.gold), WANTED))
    tokens = sum(
        count_tokens(f"{each.hit.context if shelf.kind == 'document' else ''}\n{each.hit.text}") for each in found
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
