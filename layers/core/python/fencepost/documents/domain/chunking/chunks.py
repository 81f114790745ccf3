"""Splits a text into chunks."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Final

from fencepost.documents.domain.chunking.blocks import OutlineSection, find_blocks, outline
from fencepost.documents.domain.chunking.bounds import Bounds, Count, Ruler
from fencepost.documents.domain.chunking.units import SectionSplitter, SplitPriority, Unit, sentences
from fencepost.documents.domain.documents import Chunk

_ID_DIGITS: Final = 32
_DEFAULT: Final = Bounds()


def chunk(text: str, count: Count, bounds: Bounds = _DEFAULT, language: str = "") -> tuple[Chunk, ...]:
    """Split a text into chunks whose spans tile it. A text of white space only has none.

    A chunk lies within one section and begins at the best place to split: a heading, a block, a list item, a sentence.
    Code blocks and tables stay whole unless one alone exceeds `bounds.whole`. The same text is always split alike, and
    an edit changes only the chunks near it. Takes linear time.

    Args:
        text: canonical text, Markdown or plain.
        count: returns the embedder's tokens of a text.
        bounds: lengths of the chunks.
        language: language of the text (BCP 47); empty if unknown.
    """
    if not text or text.isspace():
        return ()
    chunker = _Chunker(text, Ruler(count), bounds, language)
    return tuple(_with_ids(one for section in outline(find_blocks(text)) for one in chunker.chunks(section)))


@dataclass(frozen=True, slots=True)
class _Chunker:
    """Splits the sections of one text."""

    text: str
    ruler: Ruler
    bounds: Bounds
    language: str

    def chunks(self, section: OutlineSection) -> Iterator[Chunk]:
        """Yield the chunks of a section, without ids."""
        units = list(SectionSplitter(self.text, self.ruler, self.bounds, self.language).units(section))
        for before, run in pairwise([(), *_grouped(self.text, units, self.bounds)]):
            start, end = run[0].start, run[-1].end
            lead = self._lead(before[-1], run[0]) if before else ""
            yield Chunk(
                id="", start=start, end=end, text=self.text[start:end], breadcrumb=section.breadcrumb, lead=lead
            )

    def _lead(self, before: Unit, first: Unit) -> str:
        """Return the last whole sentences before a chunk's first unit, up to `bounds.overlap` tokens in all."""
        if not before.prose or not SplitPriority.SENTENCE <= first.priority <= SplitPriority.BLOCK:
            return ""
        preceding = sentences(self.text[before.body : before.end], self.language)
        if before.priority < SplitPriority.SENTENCE:
            # The unit begins within a sentence, whose end alone is not a whole one.
            preceding = preceding[1:]
        tokens_left, start = self.bounds.overlap, before.end
        for sentence in reversed(preceding):
            tokens_left -= self.ruler.tokens(sentence)
            if tokens_left < 0:
                break
            start -= len(sentence)
        return self.text[start : before.end]


def _with_ids(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    seen: Counter[tuple[tuple[str, ...], str, str]] = Counter()
    for one in chunks:
        content = (one.breadcrumb, one.lead, one.text)
        hashed = json.dumps((*content, seen[content])).encode()
        seen[content] += 1
        yield replace(one, id=hashlib.sha256(hashed).hexdigest()[:_ID_DIGITS])


def _grouped(text: str, units: Sequence[Unit], bounds: Bounds) -> Iterator[Sequence[Unit]]:
    """Yield the units of each chunk: up to `bounds.aim` tokens, unless a single unit is longer.

    A run of fewer than `bounds.least` tokens is joined with its neighbour where both fit into `bounds.most`. Takes
    linear time.
    """
    lengths = [0, *accumulate(unit.tokens for unit in units)]
    before, after = _better_neighbours(
        [(unit.priority, zlib.crc32(text[unit.start : unit.end].encode("utf-8", "surrogatepass"))) for unit in units]
    )
    # A unit to split before is the best place in a run of more than `bounds.aim` tokens.
    points = [index for index in range(1, len(units)) if lengths[after[index]] - lengths[before[index]] > bounds.aim]
    start = middle = 0
    for end in [*points, len(units)]:
        first, second = lengths[middle] - lengths[start], lengths[end] - lengths[middle]
        joined = min(first, second) < bounds.least and first + second <= bounds.most
        if start < middle and not joined:
            yield units[start:middle]
            start = middle
        middle = end
    yield units[start:]


type SplitRank = tuple[int, int]
"""A unit's split priority, and a hash of its text that decides between equal priorities.

Both depend on the unit alone, so an edit elsewhere does not move the split.
"""


def _better_neighbours(ranks: Sequence[SplitRank]) -> tuple[list[int], list[int]]:
    """Return for each index the nearest one before and after it with a higher rank; 0 and the length if none has."""
    before, after = [0] * len(ranks), [len(ranks)] * len(ranks)
    unresolved: list[int] = []
    for index in range(1, len(ranks)):
        while unresolved and ranks[unresolved[-1]] < ranks[index]:
            after[unresolved.pop()] = index
        before[index] = unresolved[-1] if unresolved else 0
        unresolved.append(index)
    return before, after
