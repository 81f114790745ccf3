"""How long pieces are, and the ruler that measures them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

type Count = Callable[[str], int]
"""Returns an embedder's tokens of a text, or an upper bound on them."""

_REMEMBERED: Final = 4_096


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lengths of pieces, in tokens of the embedder.

    The defaults suit multilingual-e5-small, which reads 512 tokens: `most`, `overlap` and a breadcrumb stay below
    that, and what it takes for each token grows by a third from 64 to 512 (`python -m benchmarks.chunking`).

    Attributes:
        least: a piece that is shorter is joined with its neighbour in the section, where there is room.
        aim: paragraphs, items and sentences are put together up to this.
        most: a paragraph up to this stays whole; a longer one is cut between its sentences.
        whole: a code block or table up to this stays whole although the embedder may not read its end; only a longer
            one is cut, between its lines.
        overlap: of the whole sentences that a piece repeats of the one before it, in `lead`.
    """

    least: int = 96
    aim: int = 224
    most: int = 352
    whole: int = 2_048
    overlap: int = 40

    def __post_init__(self) -> None:
        """Refuse bounds that contradict each other with `ValueError`."""
        if not 0 <= self.least <= self.aim <= self.most <= self.whole or self.aim < 1 or self.overlap < 0:
            raise ValueError("bounds must be in order: 0 ≤ least ≤ aim ≤ most ≤ whole, with an aim of 1 or more")


class Ruler:
    """Measures texts without what an embedder puts around each: its start and end, and its prefix.

    Args:
        count: may be slow; each stretch of a text is measured about once, and short ones are remembered.
    """

    def __init__(self, count: Count) -> None:
        self._around = count("")
        self._count = lru_cache(maxsize=_REMEMBERED)(count)

    def tokens(self, text: str) -> int:
        """Return the tokens that a text adds to others."""
        return max(0, self._count(text) - self._around)
