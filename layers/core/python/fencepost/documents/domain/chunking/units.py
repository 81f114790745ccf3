"""Splits a section into units, the smallest spans that a chunk may begin or end at, and texts into sentences."""

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
_CHARACTERS_PER_TOKEN: Final = 16
"""A text with more characters per allowed token is too long in any case, and is not measured as a whole."""


class SplitPriority(IntEnum):
    """How good a place before a unit is for a split: higher is better. Nesting of blocks and items lowers it."""

    HEADING = 50
    BLOCK = 40
    ITEM = 30
    CLOSE = 20
    SENTENCE = 15
    LINE = 10
    WORD = 5


class Unit(NamedTuple):
    """A span of a section.

    Attributes:
        start, end: in code points of the whole text, end exclusive.
        body: start of its own text, after headings and noise that precede it.
        tokens: its length.
        priority: how good a split before it is, see `SplitPriority`.
        solid: whether it is a whole code block or table.
        prose: whether it consists of sentences.
    """

    start: int
    end: int
    body: int
    tokens: int
    priority: int
    solid: bool = False
    prose: bool = False


type _Parts = Iterable[tuple[str, int]]
"""Parts of a text with the priority of a split before each."""

# Where to begin in `SectionSplitter._splitters`.
_BY_ITEMS: Final = 0
_BY_LINES: Final = 2


class SectionSplitter:
    """Splits the sections of one text into units.

    Args:
        text: the whole text.
        ruler: measures units.
        bounds: lengths of chunks.
        language: BCP 47; decides where sentences end.
    """

    def __init__(self, text: str, ruler: Ruler, bounds: Bounds, language: str) -> None:
        self._text = text
        self._ruler = ruler
        self._bounds = bounds
        # From coarse to fine; `_finest` takes the first that makes its parts short enough.
        self._splitters: tuple[Callable[[str], _Parts], ...] = (
            _items,
            lambda text: ((part, SplitPriority.SENTENCE) for part in sentences(text, language)),
            lambda text: ((part, SplitPriority.LINE) for part in lines(text)),
            lambda text: ((part, SplitPriority.WORD) for part in slices(text, max(bounds.aim, LONGEST_GRAPHEME))),
            lambda text: ((part, SplitPriority.WORD) for part in slices(text, LONGEST_GRAPHEME)),
        )

    def units(self, section: OutlineSection) -> Iterator[Unit]:
        """Yield the units of a section; they tile it. Headings and noise belong to the first unit below them."""
        above: list[MarkdownBlock] = []
        last: Unit | None = None
        for block, below in zip_longest(section.blocks, section.blocks[1:]):
            if block.kind in (BlockKind.HEADING, BlockKind.NOISE) or self._introduces(block, below):
                above.append(block)
                continue
            if last:
                yield last
            *whole, last = self._with_above(above, block)
            yield from whole
            above = []
        yield from self._ending(last, above)

    def _introduces(self, block: MarkdownBlock, below: MarkdownBlock | None) -> bool:
        """Tell whether a block is a short paragraph that introduces the code block or table right below it."""
        if not below or below.kind is not BlockKind.SOLID or not below.close or block.kind is not BlockKind.PROSE:
            return False
        return self._measured(block.start, block.end, 0, self._bounds.least).tokens < self._bounds.least

    def _with_above(self, above: Sequence[MarkdownBlock], block: MarkdownBlock) -> Iterator[Unit]:
        """Yield the units of a block. The first begins with the blocks above it, if both fit into a chunk."""
        over = self._over(above)
        if over and over.tokens > self._bounds.aim:
            yield from self._exploded(over)
            over = None
        units = self._block(block, _priority(block), over.tokens if over else 0)
        if over:
            first = next(units)
            joined = first._replace(start=over.start, tokens=over.tokens + first.tokens, priority=over.priority)
            most = self._bounds.whole if first.solid else self._bounds.most
            yield from (joined,) if joined.tokens <= most else (over, first)
        yield from units

    def _ending(self, last: Unit | None, above: Sequence[MarkdownBlock]) -> Iterator[Unit]:
        """Yield the last unit of a section, with or before the noise below it, or headings without a body."""
        over = self._over(above)
        if last and over and last.tokens + over.tokens <= self._bounds.most:
            yield last._replace(end=over.end, tokens=last.tokens + over.tokens)
            return
        if last:
            yield last
        if over:
            yield from self._exploded(over)

    def _over(self, above: Sequence[MarkdownBlock]) -> Unit | None:
        """Return the blocks above another as one unit; None for none."""
        if not above:
            return None
        return self._measured(above[0].start, above[-1].end, _priority(above[0]), self._bounds.most)

    def _block(self, block: MarkdownBlock, priority: int, over: int) -> Iterator[Unit]:
        """Yield the units of a block alone. The first must leave room for `over` tokens if it is prose."""
        most = self._bounds.whole if block.kind is BlockKind.SOLID else self._bounds.most
        unit = self._measured(block.start, block.end, priority, most)
        if block.kind is BlockKind.SOLID and unit.tokens <= self._bounds.whole:
            yield unit._replace(solid=True)
        elif block.kind is BlockKind.SOLID:
            yield from self._finest(unit, _BY_LINES)
        elif unit.tokens + over <= self._bounds.most:
            yield unit._replace(prose=True)
        else:
            yield from (part._replace(prose=True) for part in self._finest(unit, _BY_ITEMS))

    def _exploded(self, unit: Unit) -> Iterator[Unit]:
        return iter((unit,)) if unit.tokens <= self._bounds.most else self._finest(unit, _BY_LINES)

    def _finest(self, unit: Unit, splitter: int) -> Iterator[Unit]:
        """Yield the parts of a unit; those that are too long for a chunk are split by the next finer splitter."""
        start = unit.start
        for text, priority in self._splitters[splitter](self._text[unit.start : unit.end]):
            own = unit.priority if start == unit.start else priority
            part = self._measured(start, start + len(text), own, self._bounds.most)
            start = part.end
            if part.tokens <= self._bounds.most or splitter + 1 == len(self._splitters):
                yield part
            else:
                yield from self._finest(part, splitter + 1)

    def _measured(self, start: int, end: int, priority: int, most: int) -> Unit:
        # Such a long unit is split in any case, and its parts are measured then.
        if end - start > _CHARACTERS_PER_TOKEN * most:
            return Unit(start, end, start, self._bounds.whole + 1, priority)
        return Unit(start, end, start, self._ruler.tokens(self._text[start:end]), priority)


def _priority(block: MarkdownBlock) -> int:
    if block.kind is BlockKind.HEADING:
        return SplitPriority.HEADING - block.level
    return SplitPriority.CLOSE if block.close else SplitPriority.BLOCK - _depth(block.indent)


def _depth(indent: int) -> int:
    return min(indent // 2, _DEEPEST)


def _items(text: str) -> _Parts:
    """Return the items of a list, each with everything below it; the text itself if it is not a list."""
    found = lines(text)
    offsets = [0, *accumulate(map(len, found))]
    items = {
        offsets[n]: SplitPriority.ITEM - _depth(len(match[1]))
        for n, line in enumerate(found)
        if (match := _ITEM.match(line))
    }
    starts = sorted({0, *items})
    return ((text[start:end], items.get(start, SplitPriority.ITEM)) for start, end in pairwise([*starts, len(text)]))


WINDOW_CHARACTERS: Final = 2_000
"""Length of text given to the segmenter at a time: it takes quadratic time for languages without spaces."""
LONGEST_GRAPHEME: Final = 32
"""In code points. Longer graphemes may be split; text in Stream-Safe Format (UAX #15) needs no more than 30."""

_GRAPHEME: Final = regex.compile(r"\X")
_SURROGATE: Final = regex.compile("[\ud800-\udfff]")
_LATIN: Final = "en"
"""Language whose rules apply if none is given; they also know 。！？."""


def sentences(text: str, language: str = "") -> list[str]:
    """Return the sentences of a text, each with the white space after it.

    Args:
        text: of any length; one sentence may be split every `WINDOW_CHARACTERS`.
        language: BCP 47; its abbreviations do not end sentences.
    """
    found: list[str] = []
    start = 0
    while start < len(text):
        window = next(slices(text[start : start + WINDOW_CHARACTERS + LONGEST_GRAPHEME], WINDOW_CHARACTERS))
        segments = _segments(window, language)
        # The last sentence of a window may continue in the next one.
        if start + len(window) < len(text) and len(segments) > 1:
            segments.pop()
        found.extend(segments)
        start += sum(map(len, segments))
    return found


def lines(text: str) -> list[str]:
    r"""Return the lines of a text with their line ends: `\n`, `\r` or `\r\n`."""
    return list(io.StringIO(text, newline=""))


def slices(text: str, characters: int) -> Iterator[str]:
    """Yield slices of limited length, split after white space where there is some in their second half.

    Graphemes (UAX #29) are not split, unless one alone is longer than a slice.
    """
    start = 0
    while len(text) - start > characters:
        window = text[start : start + characters + LONGEST_GRAPHEME]
        ends: list[int] = [end for match in _GRAPHEME.finditer(window) if (end := match.end()) <= characters]
        spaced = [end for end in ends if end > characters // 2 and window[end - 1].isspace()]
        end = start + (spaced or ends or [characters])[-1]
        yield text[start:end]
        start = end
    yield text[start:]


def _segments(text: str, language: str) -> list[str]:
    """Return the sentences of a short text. No sentence is white space alone, or begins within a grapheme."""
    # The segmenter rejects lone surrogates, and leaves white space out.
    lengths = [len(part) for part in sentencex.segment(language or _LATIN, _SURROGATE.sub("\ufffd", text))]
    segments: list[str] = []
    for start, end in pairwise([0, *accumulate(lengths), len(text)]):
        part = text[start:end]
        within_grapheme = _GRAPHEME.fullmatch(text[start - 1 : start + 1]) if segments else None
        if segments and (not part or part.isspace() or within_grapheme):
            segments[-1] += part
        elif part:
            segments.append(part)
    return segments
