"""Markdown blocks of a text (headings, paragraphs and lists, code and tables, noise), and its sections.

A block includes the blank lines below it, the first also those above, so the blocks tile the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import accumulate
from typing import Final

from fencepost.documents.domain.chunking.noise import find_noise
from fencepost.kernel.links import plain_text
from fencepost.kernel.markdown import MarkdownLine, scan

_DELIMITERS: Final = re.compile(r"[\s>]*[|:-][\s|:-]*$")
_HTML_TABLE: Final = re.compile(r"\s*<table[\s>]", re.IGNORECASE)
_HTML_TABLE_END: Final = "</table>"
_INTRODUCES: Final = (":", "：")


class BlockKind(Enum):
    """The kind of a block. `SOLID` is code or a table, to be kept whole; `NOISE` has no content for readers."""

    HEADING = auto()
    PROSE = auto()
    SOLID = auto()
    NOISE = auto()


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A block of a text.

    Attributes:
        start, end: in code points, end exclusive.
        level: 1–6 for a heading, 1 for front matter with a title, else 0.
        title: plain text of a heading, or the title of front matter.
        indent: number of white-space characters before its text.
        close: whether it belongs to the block above: no blank line separates them, or that ends with a colon.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    title: str = ""
    indent: int = 0
    close: bool = False


def find_blocks(text: str) -> list[MarkdownBlock]:
    """Return the blocks of a text, in order; none for an empty text."""
    lines = scan(text)
    return _BlockFinder(lines).blocks() if lines else []


class _BlockFinder:
    """Finds the blocks of a text's lines. Lines are referred to by their indices."""

    def __init__(self, lines: Sequence[MarkdownLine]) -> None:
        self._lines = lines
        self._offsets = [0, *accumulate(len(line.text) for line in lines)]
        self._noise = {noise.start: noise for noise in find_noise(lines)}
        self._headings = [0, *accumulate(line.level > 0 for line in lines)]
        self._table_ends = [n for n, line in enumerate(lines) if _HTML_TABLE_END in line.text.lower()]

    def blocks(self) -> list[MarkdownBlock]:
        """Return the blocks in order."""
        blocks: list[MarkdownBlock] = []
        index = self._below(0)
        while index < len(self._lines) or not blocks:
            below = self._below(self._end(index))
            blocks.append(self._block(index, below, first=not blocks))
            index = below
        return blocks

    def _block(self, index: int, below: int, *, first: bool) -> MarkdownBlock:
        start, end = 0 if first else self._offsets[index], self._offsets[below]
        if index == len(self._lines):
            return MarkdownBlock(BlockKind.NOISE, start, end)
        line = self._lines[index]
        indent = len(line.text) - len(line.text.lstrip())
        if line.level:
            return MarkdownBlock(BlockKind.HEADING, start, end, line.level, plain_text(line.heading), indent)
        if line.code or self._is_table(index):
            return MarkdownBlock(BlockKind.SOLID, start, end, indent=indent, close=self._belongs_above(index))
        if noise := self._noise.get(index):
            return MarkdownBlock(BlockKind.NOISE, start, end, int(bool(noise.title)), noise.title)
        return MarkdownBlock(BlockKind.PROSE, start, end, indent=indent, close=self._belongs_above(index))

    def _below(self, index: int) -> int:
        """Return the first line that is not blank, from a line on."""
        while index < len(self._lines) and self._lines[index].blank and not self._lines[index].code:
            index += 1
        return index

    def _end(self, index: int) -> int:
        """Return the line after the last line of the block that begins at a line."""
        if index == len(self._lines) or self._lines[index].level:
            return min(index + 1, len(self._lines))
        end = index + 1
        if self._lines[index].code:
            while end < len(self._lines) and self._lines[end].code and not self._lines[end].opens:
                end += 1
            return end
        if self._is_table(index):
            return self._table_end(index)
        if noise := self._noise.get(index):
            return noise.end
        while end < len(self._lines) and self._is_text(end) and not self._is_table(end) and end not in self._noise:
            end += 1
        return end

    def _is_text(self, index: int) -> bool:
        line = self._lines[index]
        return not (line.blank or line.code or line.level)

    def _is_table(self, index: int) -> bool:
        text = self._lines[index].text
        if "|" not in text:
            return _HTML_TABLE.match(text) is not None and self._html_table_end(index) is not None
        second = self._lines[index + 1] if index + 1 < len(self._lines) else None
        if second is None or second.code or "|" not in second.text:
            return False
        barred = text.lstrip(" \t>").startswith("|") and second.text.lstrip(" \t>").startswith("|")
        return barred or _DELIMITERS.match(second.text) is not None

    def _table_end(self, index: int) -> int:
        if "|" not in self._lines[index].text and (end := self._html_table_end(index)) is not None:
            return end
        end = index + 1
        while end < len(self._lines) and self._is_text(end) and "|" in self._lines[end].text:
            end += 1
        return end

    def _html_table_end(self, index: int) -> int | None:
        """Return the line after the end tag of an HTML table; None for a table that is left open."""
        place = bisect_left(self._table_ends, index)
        if place == len(self._table_ends):
            return None
        end = self._table_ends[place] + 1
        # Without an end before the next heading, the table was left open.
        return end if self._headings[index] == self._headings[end] else None

    def _belongs_above(self, index: int) -> bool:
        """Tell whether no blank line separates a line from the text above, or that ends with a colon."""
        above = index - 1
        if above >= 0 and not self._lines[above].blank:
            return True
        while above >= 0 and self._lines[above].blank:
            above -= 1
        return above >= 0 and self._lines[above].text.rstrip().endswith(_INTRODUCES)


MAX_SECTIONS: Final = 10_000
"""Number of sections beyond which sections shorter than `ROOMY_CHARACTERS` are joined."""
ROOMY_CHARACTERS: Final = 2_000


@dataclass(frozen=True, slots=True)
class OutlineSection:
    """Consecutive blocks, and the plain text of the headings above them, outermost first."""

    breadcrumb: tuple[str, ...]
    blocks: tuple[MarkdownBlock, ...]


def outline(blocks: Sequence[MarkdownBlock]) -> Iterator[OutlineSection]:
    """Yield the sections of a text.

    A heading without a body, that is with only headings and noise below it, belongs to the section of the next heading
    that has one.
    """
    trail: list[tuple[int, str]] = []
    pending: list[MarkdownBlock] = []
    has_body, count = False, 0
    for block in blocks:
        if block.level:
            if has_body and (count < MAX_SECTIONS or block.start - pending[0].start >= ROOMY_CHARACTERS):
                yield OutlineSection(_names(trail), tuple(pending))
                pending, has_body, count = [], False, count + 1
            if not has_body:
                trail = [above for above in trail if above[0] < block.level] + [(block.level, block.title)]
        pending.append(block)
        has_body = has_body or block.kind in (BlockKind.PROSE, BlockKind.SOLID)
    if pending:
        yield OutlineSection(_names(trail), tuple(pending))


def _names(trail: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(title for _, title in trail if title)
