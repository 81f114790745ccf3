"""Which units make a piece together.

The cuts depend on what stands beside them alone, so that an edit moves the cuts near it and no others. The best cut of
a section parts it in two, the best cuts of its parts part those, and so on until a part is short enough. Among equally
good cuts the words behind each decide, by their checksum: a place that is picked by its words is picked again wherever
it stands. It is the idea of a treap (Seidel & Aragon 1996), and of content-defined chunking.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import accumulate

from fencepost.documents.domain.chunking.bounds import Bounds
from fencepost.documents.domain.chunking.units import Unit

type SplitRank = tuple[int, int]


def packed(text: str, units: Sequence[Unit], bounds: Bounds) -> Iterator[Sequence[Unit]]:
    """Yield runs of units, each up to `bounds.aim` where a unit alone is not longer; short ones have joined others.

    Takes linear time.

    Args:
        text: that the units are of.
    """
    lengths = [0, *accumulate(unit.tokens for unit in units)]
    start = middle = 0
    for end in [*_cuts(text, units, lengths, bounds.aim), len(units)]:
        first, second = lengths[middle] - lengths[start], lengths[end] - lengths[middle]
        if start < middle and not _fit(first, second, bounds):
            yield units[start:middle]
            start = middle
        middle = end
    yield units[start:]


def _cuts(text: str, units: Sequence[Unit], lengths: Sequence[int], aim: int) -> Iterator[int]:
    """Yield the places to cut before: those that are the best of a stretch longer than `aim`."""
    before, after = _better([_rank(text, unit) for unit in units])
    return (place for place in range(1, len(units)) if lengths[after[place]] - lengths[before[place]] > aim)


def _better(ranks: Sequence[SplitRank]) -> tuple[list[int], list[int]]:
    """Return for each place the nearest before and after it that is a better cut; the ends of all where none is."""
    before, after = [0] * len(ranks), [len(ranks)] * len(ranks)
    open_places: list[int] = []
    for place in range(1, len(ranks)):
        while open_places and ranks[open_places[-1]] < ranks[place]:
            after[open_places.pop()] = place
        before[place] = open_places[-1] if open_places else 0
        open_places.append(place)
    return before, after


def _rank(text: str, unit: Unit) -> SplitRank:
    return unit.cut, zlib.crc32(text[unit.start : unit.end].encode("utf-8", "surrogatepass"))


def _fit(first: int, second: int, bounds: Bounds) -> bool:
    """Tell whether neighbours of so many tokens belong in one piece: one of them is short, and there is room."""
    return min(first, second) < bounds.least and first + second <= bounds.most
