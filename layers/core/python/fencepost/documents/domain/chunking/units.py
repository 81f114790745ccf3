"""A section taken apart into units: the smallest stretches that a piece may begin or end at, with their lengths."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import accumulate, pairwise, zip_longest
from typing import Final, NamedTuple

import regex
import sentencex

from fencepost.documents.domain.chunking.blocks import BlockKind, MarkdownBlock, OutlineSection
from fencepost.documents.domain.chunking.bounds import Bounds, Ruler

_ITEM: Final = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]")
_DEEPEST: Final = 8
_ROOMY: Final = 16
"""Characters that a token has at most in anything worth measuring whole."""


class UnitSplitter(IntEnum):
    """How well a text can be cut before a unit; the deeper a block or an item is nested, the less."""

    HEADING = 50
    BLOCK = 40
    ITEM = 30
    CLOSE = 20
    SENTENCE = 15
    LINE = 10
    WORD = 5


class Unit(NamedTuple):
    """A stretch of a section.

    Attributes:
        start, end: in code points of the whole text.
        body: where its own words begin, behind the headings and the noise above them.
        cut: how well the text can be cut before it.
        solid: whether it is a whole code block or table.
        prose: whether it is made of sentences.
    """

    start: int
    end: int
    body: int
    tokens: int
    cut: int
    solid: bool = False
    prose: bool = False


type _Parts = Iterable[tuple[str, int]]


class Units:
    """Takes the sections of one text apart.

    Args:
        text: the whole of it.
        language: BCP 47, for the ends of sentences.
    """

    def __init__(self, text: str, ruler: Ruler, bounds: Bounds, language: str) -> None:
        self._text = text
        self._ruler = ruler
        self._bounds = bounds
        self._finer: tuple[Callable[[str], _Parts], ...] = (
            _items,
            lambda part: ((words, UnitSplitter.SENTENCE) for words in sentences(part, language)),
            _lines,
            lambda part: ((words, UnitSplitter.WORD) for words in slices(part, max(bounds.aim, LONGEST_GRAPHEME))),
            lambda part: ((words, UnitSplitter.WORD) for words in slices(part, LONGEST_GRAPHEME)),
        )

    def of(self, section: OutlineSection) -> Iterator[Unit]:
        """Yield the units of a section; they tile it. Headings and noise belong to the first unit below them."""
        above: list[MarkdownBlock] = []
        last: Unit | None = None
        for block, below in zip_longest(section.blocks, section.blocks[1:]):
            if block.kind in (BlockKind.HEADING, BlockKind.NOISE) or self._introduces(block, below):
                above.append(block)
                continue
            if last:
                yield last
            *whole, last = self._with(above, block)
            yield from whole
            above = []
        yield from self._ending(last, above)

    def _introduces(self, block: MarkdownBlock, below: MarkdownBlock | None) -> bool:
        """Tell whether a block is a few words above the code or table that they speak of."""
        if not below or below.kind is not BlockKind.SOLID or not below.close or block.kind is not BlockKind.PROSE:
            return False
        return self._measured(block.start, block.end, 0, self._bounds.least).tokens < self._bounds.least

    def _with(self, above: Sequence[MarkdownBlock], block: MarkdownBlock) -> Iterator[Unit]:
        """Yield the units of a block; the first begins with what stands above it, where there is room."""
        over = self._over(above)
        if over and over.tokens > self._bounds.aim:
            yield from self._exploded(over)
            over = None
        units = self._block(block, _cut(block), over.tokens if over else 0)
        if over:
            yield from self._headed(over, next(units))
        yield from units

    def _headed(self, over: Unit, first: Unit) -> Iterator[Unit]:
        together = first._replace(start=over.start, tokens=over.tokens + first.tokens, cut=over.cut)
        most = self._bounds.whole if first.solid else self._bounds.most
        yield from (together,) if together.tokens <= most else (over, first)

    def _ending(self, last: Unit | None, above: Sequence[MarkdownBlock]) -> Iterator[Unit]:
        """Yield the last unit, and what is below it: noise, or headings of a section without a body."""
        over = self._over(above)
        if last and over and last.tokens + over.tokens <= self._bounds.most:
            yield last._replace(end=over.end, tokens=last.tokens + over.tokens)
            return
        if last:
            yield last
        if over:
            yield from self._exploded(over)

    def _over(self, above: Sequence[MarkdownBlock]) -> Unit | None:
        if not above:
            return None
        return self._measured(above[0].start, above[-1].end, _cut(above[0]), self._bounds.most)

    def _block(self, block: MarkdownBlock, cut: int, over: int) -> Iterator[Unit]:
        most = self._bounds.whole if block.kind is BlockKind.SOLID else self._bounds.most
        unit = self._measured(block.start, block.end, cut, most)
        if block.kind is BlockKind.SOLID and unit.tokens <= self._bounds.whole:
            yield unit._replace(solid=True)
        elif block.kind is BlockKind.SOLID:
            yield from self._finest(unit, 2)
        elif unit.tokens + over <= self._bounds.most:
            yield unit._replace(prose=True)
        else:
            yield from (part._replace(prose=True) for part in self._finest(unit, 0))

    def _exploded(self, unit: Unit) -> Iterator[Unit]:
        return iter((unit,)) if unit.tokens <= self._bounds.most else self._finest(unit, 2)

    def _finest(self, unit: Unit, finer: int) -> Iterator[Unit]:
        """Cut a unit by the first means that does; cut what is still too long by the next."""
        start = unit.start
        for text, cut in self._finer[finer](self._text[unit.start : unit.end]):
            part = self._measured(start, start + len(text), unit.cut if start == unit.start else cut, self._bounds.most)
            start = part.end
            if part.tokens <= self._bounds.most or finer + 1 == len(self._finer):
                yield part
            else:
                yield from self._finest(part, finer + 1)

    def _measured(self, start: int, end: int, cut: int, most: int) -> Unit:
        # What is so long is cut in any case, and then measured by the part.
        if end - start > _ROOMY * most:
            return Unit(start, end, start, self._bounds.whole + 1, cut)
        return Unit(start, end, start, self._ruler.tokens(self._text[start:end]), cut)


def _cut(block: MarkdownBlock) -> int:
    if block.kind is BlockKind.HEADING:
        return UnitSplitter.HEADING - block.level
    return UnitSplitter.CLOSE if block.close else UnitSplitter.BLOCK - _depth(block.indent)


def _depth(indent: int) -> int:
    return min(indent // 2, _DEEPEST)


def _items(text: str) -> _Parts:
    """Return the items of a list with all that stands below each; the text itself where it is none."""
    found = lines(text)
    offsets = [0, *accumulate(map(len, found))]
    cuts = {
        offsets[n]: UnitSplitter.ITEM - _depth(len(match[1]))
        for n, line in enumerate(found)
        if (match := _ITEM.match(line))
    }
    starts = sorted({0, *cuts})
    return ((text[start:end], cuts.get(start, UnitSplitter.ITEM)) for start, end in pairwise([*starts, len(text)]))


def _lines(text: str) -> _Parts:
    return ((line, UnitSplitter.LINE) for line in lines(text))


WINDOW_CHARACTERS: Final = 2_000
"""What the segmenter sees at a time: it takes quadratic time for languages without spaces."""
LONGEST_GRAPHEME: Final = 32
"""Code points; what is longer may be cut (UAX #15 needs no more than 30 for any text in Stream-Safe Format)."""

_GRAPHEME: Final = regex.compile(r"\X")
_SURROGATE: Final = regex.compile("[\ud800-\udfff]")
_LATIN: Final = "en"
"""Rules that also know 。！？ and suit languages that have none of their own."""


def sentences(text: str, language: str = "") -> list[str]:
    """Return the sentences of a text, each with the white space behind it.

    Args:
        text: without limit; one sentence may be cut every `WINDOW_CHARACTERS`.
        language: BCP 47; its abbreviations end no sentence.
    """
    parts: list[str] = []
    place = 0
    while place < len(text):
        window = next(slices(text[place : place + WINDOW_CHARACTERS + LONGEST_GRAPHEME], WINDOW_CHARACTERS))
        found = _segments(window, language)
        # What stands last may go on in the next window.
        if place + len(window) < len(text) and len(found) > 1:
            found.pop()
        parts.extend(found)
        place += sum(map(len, found))
    return parts


def lines(text: str) -> list[str]:
    r"""Return the lines of a text with their ends: `\n`, `\r` or both."""
    return list(io.StringIO(text, newline=""))


def slices(text: str, characters: int) -> Iterator[str]:
    """Yield slices of at most so many characters, cut behind white space where there is some in their second half.

    No grapheme (UAX #29) is cut, unless it alone is longer than a slice.
    """
    place = 0
    while len(text) - place > characters:
        end = place + _slice_end(text[place : place + characters + LONGEST_GRAPHEME], characters)
        yield text[place:end]
        place = end
    yield text[place:]


def _slice_end(window: str, characters: int) -> int:
    ends: list[int] = [end for match in _GRAPHEME.finditer(window) if (end := match.end()) <= characters]
    spaced = [end for end in ends if end > characters // 2 and window[end - 1].isspace()]
    return (spaced or ends or [characters])[-1]


def _segments(text: str, language: str) -> list[str]:
    # The segmenter's strings hold no lone surrogates, and it says nothing of white space alone.
    lengths = [len(part) for part in sentencex.segment(language or _LATIN, _SURROGATE.sub("\ufffd", text))]
    parts: list[str] = []
    for start, end in pairwise([0, *accumulate(lengths), len(text)]):
        part = text[start:end]
        if parts and (not part or part.isspace() or not _is_boundary(text, start)):
            parts[-1] += part
        elif part:
            parts.append(part)
    return parts


def _is_boundary(text: str, place: int) -> bool:
    match = _GRAPHEME.match(text[place - 1 : place + 1])
    return match is not None and match.end() == 1
