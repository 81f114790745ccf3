"""Whether anything that was found has to do with the question: a ranking alone always has a first."""

from __future__ import annotations

from typing import Final

from fencepost.domain.ranking.analysis import analysed, asked
from fencepost.domain.ranking.fusion import Ranked

FLOOR: Final = 0.2
"""Below it, a question's words are not there, and its meaning is nowhere near."""


def chance(ranked: Ranked, question: str) -> float:
    """Return how far a hit speaks of a question, from 0 to 1.

    It is the share of the question's telling terms that the hit has, or the square of its cosine, whichever is more:
    what is found by meaning alone, as in another language, shares no word.
    """
    wanted = frozenset(asked(question))
    there = wanted.intersection(analysed(f"{ranked.hit.context}\n{ranked.hit.text}"))
    shared = len(there) / len(wanted) if wanted else 0.0
    return max(shared, max(0.0, ranked.cosine or 0.0) ** 2)
