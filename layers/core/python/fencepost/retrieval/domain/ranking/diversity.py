"""Choosing passages that do not say the same again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Final

from fencepost.retrieval.domain.ranking.analysis import analysed
from fencepost.retrieval.domain.ranking.fusion import Ranked

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
