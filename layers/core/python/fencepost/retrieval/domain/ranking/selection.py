"""Whether what was found has to do with the question: a ranking alone always has a first.

    chance = 1 / (1 + exp(6 - 4 · share of the question's terms that it has - 7 · nearness))

A logistic regression on the first ten hits of half of the questions of three data sets, and of questions about other
things, with its constants rounded; docs/retrieval-quality.md has what it says of the other half. Nearness is how far
the cosine lies on the way from what is unrelated to what is the same: models differ in what they give to unrelated
texts, so a plain cosine says little.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Final

from fencepost.retrieval.domain.ranking.fusion import Ranked
from fencepost.retrieval.domain.ranking.terms import analysed, asked

FLOOR: Final = 0.02
"""The chance that the best hit must have. Others need not: where one answers, they may complete it."""
LOOKED_AT: Final = 10
"""Hits among which the best chance is looked for: the first in order is not always it."""

type Chance = Callable[[Ranked, str], float]
"""Returns the chance that a hit answers a question, from 0 to 1."""

_NOTHING: Final = -6.0
_PER_TERMS: Final = 4.0
_PER_NEARNESS: Final = 7.0


def chance(ranked: Ranked, question: str) -> float:
    """Return the chance that a hit answers a question, from 0 to 1."""
    wanted = frozenset(asked(question))
    there = wanted.intersection(analysed(f"{ranked.hit.context}\n{ranked.hit.text}"))
    share = len(there) / len(wanted) if wanted else 0.0
    return 1 / (1 + math.exp(-(_NOTHING + _PER_TERMS * share + _PER_NEARNESS * ranked.nearness)))


def relevant(
    ranked: Sequence[Ranked], question: str, floor: float = FLOOR, likely: Chance = chance
) -> tuple[Ranked, ...]:
    """Return what may answer a question, in order: all of it, or nothing where not even the best reaches the floor."""
    return tuple(ranked) if any(likely(each, question) >= floor for each in ranked[:LOOKED_AT]) else ()


RELEVANCE: Final = 0.8
"""How much relevance counts against novelty: lambda in Carbonell and Goldstein."""


def collapsed(ranked: Sequence[Ranked], part_of: Callable[[Ranked], Hashable], most: int = 1) -> tuple[Ranked, ...]:
    """Return the best `most` of each part, in order. A part is whatever `part_of` says: a document, or a section."""
    seen: Counter[Hashable] = Counter()
    kept = []
    for each in ranked:
        part = part_of(each)
        seen[part] += 1
        if seen[part] <= most:
            kept.append(each)
    return tuple(kept)


def diversified(ranked: Sequence[Ranked], wanted: int, relevance: float = RELEVANCE) -> tuple[Ranked, ...]:
    """Return `wanted` of them, each the most relevant and most novel that is left.

    Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): λ · relevance - (1 - λ) · similarity to the most
    similar one that was chosen. Relevance is the share of the best score. Similarity is the Jaccard index of the terms,
    counted from one half on: texts on the same subject share words, those that repeat each other share most.
    """
    best = max((each.score for each in ranked), default=0.0) or 1.0
    worth = [relevance * each.score / best for each in ranked]
    terms = [frozenset(analysed(each.hit.text)) for each in ranked]
    repeated = [0.0] * len(ranked)
    left, chosen = list(range(len(ranked))), list[Ranked]()
    while left and len(chosen) < wanted:
        # The first of equals is the better ranked one.
        place = max(left, key=lambda n: worth[n] - (1 - relevance) * repeated[n])
        left.remove(place)
        chosen.append(ranked[place])
        for n in left:
            repeated[n] = max(repeated[n], _repetition(terms[place], terms[n]))
    return tuple(chosen)


def _repetition(one: frozenset[str], other: frozenset[str]) -> float:
    """Return how much two sets of terms repeat each other: 0 up to a Jaccard index of one half, 1 for the same."""
    union = len(one | other)
    return max(0.0, 2 * len(one & other) / union - 1) if union else 0.0
