"""Selection of passages from a ranking: relevance, one or few for each section, diversity.

A ranking always has a first hit, relevant or not. The probability that a hit answers the question is

    chance = 1 / (1 + exp(6 - 4 · share of the question's terms that the hit contains - 7 · nearness))

a logistic regression on the first ten hits of half of the questions of three data sets, and of questions about
unrelated subjects, with rounded constants; docs/retrieval-quality.md has its results on the other half. Nearness is the
position of the cosine between unrelated and identical texts (`fusion.nearness`): models give different cosines to
unrelated texts, so a plain cosine says little.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Final

from fencepost.retrieval.domain.ranking.fusion import Ranked
from fencepost.retrieval.domain.ranking.terms import index_terms, query_terms

FLOOR: Final = 0.02
"""Chance that the best hit must reach. The others need not: where one answers, they may complete it."""
LOOKED_AT: Final = 10
"""First hits among which the best chance is looked for: the first in order need not have it."""
RELEVANCE: Final = 0.8
"""Weight of relevance against novelty: lambda in Carbonell and Goldstein."""

type Chance = Callable[[Ranked, str], float]
"""Returns the probability that a hit answers a question."""

_INTERCEPT: Final = -6.0
_PER_TERMS: Final = 4.0
_PER_NEARNESS: Final = 7.0


def chance(ranked: Ranked, question: str) -> float:
    """Return the probability that a hit answers a question."""
    wanted = frozenset(query_terms(question))
    contained = wanted.intersection(index_terms(f"{ranked.hit.context}\n{ranked.hit.text}"))
    share = len(contained) / len(wanted) if wanted else 0.0
    return 1 / (1 + math.exp(-(_INTERCEPT + _PER_TERMS * share + _PER_NEARNESS * ranked.nearness)))


def relevant(
    ranked: Sequence[Ranked], question: str, floor: float = FLOOR, likely: Chance = chance
) -> tuple[Ranked, ...]:
    """Return all hits, in order, or none if not even the best chance reaches the floor."""
    return tuple(ranked) if any(likely(each, question) >= floor for each in ranked[:LOOKED_AT]) else ()


def collapsed(ranked: Sequence[Ranked], group_of: Callable[[Ranked], Hashable], most: int = 1) -> tuple[Ranked, ...]:
    """Return the best `most` hits of each group, in order.

    Args:
        ranked: hits, the best first.
        group_of: returns the group of a hit, such as its document or its section.
        most: hits to keep of each group.
    """
    seen: Counter[Hashable] = Counter()
    kept = []
    for each in ranked:
        group = group_of(each)
        seen[group] += 1
        if seen[group] <= most:
            kept.append(each)
    return tuple(kept)


def diversified(ranked: Sequence[Ranked], wanted: int, relevance: float = RELEVANCE) -> tuple[Ranked, ...]:
    """Return the `wanted` hits that are most relevant and do not repeat each other.

    Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): λ · relevance - (1 - λ) · similarity to the most
    similar hit that was chosen before. Relevance is the share of the best score. Similarity is the Jaccard index of the
    terms, counted from one half on: texts on the same subject share words, and repetitions share most of them.
    """
    best = max((each.score for each in ranked), default=0.0) or 1.0
    worth = [relevance * each.score / best for each in ranked]
    terms = [frozenset(index_terms(each.hit.text)) for each in ranked]
    repeated = [0.0] * len(ranked)
    left, chosen = list(range(len(ranked))), list[Ranked]()
    while left and len(chosen) < wanted:
        # The first of equals is the better ranked one.
        place = max(left, key=lambda n: worth[n] - (1 - relevance) * repeated[n])
        left.remove(place)
        chosen.append(ranked[place])
        for n in left:
            shared, union = len(terms[place] & terms[n]), len(terms[place] | terms[n])
            repeated[n] = max(repeated[n], 2 * shared / union - 1 if union else 0.0)
    return tuple(chosen)
