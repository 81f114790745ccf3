"""A text cut into pieces."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Final

from fencepost.documents.domain.chunking.blocks import OutlineSection, find_blocks, outline
from fencepost.documents.domain.chunking.bounds import Bounds, Count, Ruler
from fencepost.documents.domain.chunking.units import Unit, Units, UnitSplitter, sentences
from fencepost.documents.domain.documents import Chunk

_ID_DIGITS: Final = 32
_DEFAULT: Final = Bounds()


def chunk(text: str, count: Count, bounds: Bounds = _DEFAULT, language: str = "") -> tuple[Chunk, ...]:
    """Cut a text into pieces whose spans tile it; white space alone has none.

    A piece lies within one section and begins where the text can be cut best: at a heading, a block, an item of a list,
    a sentence. Code blocks and tables are whole unless one alone exceeds `bounds.whole`. The same text is cut alike,
    and an edit changes the pieces near it and no others. It takes linear time.

    Args:
        text: Markdown or plain text, canonical.
        count: the embedder's tokens of a text.
        bounds: lengths of the pieces.
        language: BCP 47 of the text, empty where unknown.
    """
    if not text or text.isspace():
        return ()
    cutter = _Cutter(text, Ruler(count), bounds, language)
    return tuple(_named(piece for section in outline(find_blocks(text)) for piece in cutter.pieces(section)))


@dataclass(frozen=True, slots=True)
class _Cutter:
    """Cuts one text."""

    text: str
    ruler: Ruler
    bounds: Bounds
    language: str

    def pieces(self, section: OutlineSection) -> Iterator[Chunk]:
        """Yield the pieces of a section, without ids."""
        units = list(Units(self.text, self.ruler, self.bounds, self.language).of(section))
        runs = packed(self.text, units, self.bounds)
        for before, run in pairwise([(), *runs]):
            start, end = run[0].start, run[-1].end
            lead = self._lead(before[-1], run[0]) if before else ""
            yield Chunk(
                id="", start=start, end=end, text=self.text[start:end], breadcrumb=section.breadcrumb, lead=lead
            )

    def _lead(self, before: Unit, first: Unit) -> str:
        """Return the last whole sentences before a unit, up to `bounds.overlap` tokens together."""
        if not before.prose or not UnitSplitter.SENTENCE <= first.cut <= UnitSplitter.BLOCK:
            return ""
        said = sentences(self.text[before.body : before.end], self.language)
        left, place = self.bounds.overlap, before.end
        # Of a sentence that is cut itself, its end is not one.
        for sentence in reversed(said[before.cut < UnitSplitter.SENTENCE :]):
            left -= self.ruler.tokens(sentence)
            if left < 0:
                break
            place -= len(sentence)
        return self.text[place : before.end]


def _named(pieces: Iterator[Chunk]) -> Iterator[Chunk]:
    seen: Counter[tuple[tuple[str, ...], str, str]] = Counter()
    for piece in pieces:
        words = (piece.breadcrumb, piece.lead, piece.text)
        named = json.dumps((*words, seen[words])).encode()
        seen[words] += 1
        yield replace(piece, id=hashlib.sha256(named).hexdigest()[:_ID_DIGITS])


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
