"""Whether what was found has to do with the question: a ranking alone always has a first.

    chance = 1 / (1 + exp(6 - 4 · share of the question's terms that it has - 7 · nearness))

A logistic regression on the first ten hits of half of the questions of three data sets, and of questions about other
things, with its constants rounded; docs/retrieval-quality.md has what it says of the other half. Nearness is how far
the cosine lies on the way from what is unrelated to what is the same: models differ in what they give to unrelated
texts, so a plain cosine says little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from fencepost.retrieval.domain.ranking.analysis import analysed, asked
from fencepost.retrieval.domain.ranking.fusion import Ranked

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
