"""Lengths of chunks, and the ruler that measures them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

type Count = Callable[[str], int]
"""Returns an embedder's number of tokens of a text, or an upper bound on it."""

_CACHED: Final = 4_096


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lengths of chunks, in tokens of the embedder.

    The defaults (`LOCAL_BOUNDS`) suit multilingual-e5-small, which reads 512 tokens: `most`, `overlap` and a
    breadcrumb stay below
    that. Its time per token grows by a third from 64 to 512 tokens (`python -m benchmarks.chunking`).

    Attributes:
        least: a shorter chunk is joined with its neighbour in the section, if both fit into `most`.
        aim: paragraphs, list items and sentences are grouped up to this length.
        most: a paragraph up to this length stays whole; a longer one is split between sentences.
        whole: a code block or table up to this length stays whole, even if the embedder does not read its end; a
            longer one is split between lines.
        overlap: maximum length of the whole sentences of the preceding chunk that `lead` repeats.
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


LOCAL_BOUNDS: Final = Bounds()
"""For the local embedder, which counts its own tokens."""
BYTE_BOUNDS: Final = Bounds(least=300, aim=900, most=1_400, whole=8_000, overlap=160)
"""For all other embedders: their tokens are bounded by bytes, about four a token in English, so that chunks come out
as long as with `LOCAL_BOUNDS`."""


class Ruler:
    """Measures texts without the tokens that an embedder adds to each: start, end and prefix.

    Args:
        count: may be slow. Each span of a text is measured about once, and recent results are cached.
    """

    def __init__(self, count: Count) -> None:
        self._added = count("")
        self._count = lru_cache(maxsize=_CACHED)(count)

    def tokens(self, text: str) -> int:
        """Return the number of tokens of a text, without those that the embedder adds."""
        return max(0, self._count(text) - self._added)
