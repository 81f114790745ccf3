"""Ranking: the terms and fields by which entries are found, one order of what was found, and what of it is relevant.

Nothing here asks anything of an index, an embedder or a clock; the same lists give the same order.
"""

from __future__ import annotations

from fencepost.retrieval.domain.ranking.calibration import FLOOR, Chance, chance, relevant
from fencepost.retrieval.domain.ranking.diversity import collapsed, diversified
from fencepost.retrieval.domain.ranking.fusion import (
    LIST_LIMIT,
    FusionKey,
    Lists,
    Profile,
    Ranked,
    Weights,
    key_of,
    rank,
)

__all__ = [
    "FLOOR",
    "LIST_LIMIT",
    "Chance",
    "FusionKey",
    "Lists",
    "Profile",
    "Ranked",
    "Weights",
    "chance",
    "collapsed",
    "diversified",
    "key_of",
    "rank",
    "relevant",
]
