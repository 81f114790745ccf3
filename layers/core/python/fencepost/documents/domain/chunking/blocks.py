"""The blocks of a Markdown text, by the line: headings, paragraphs and lists, code and tables, noise.

Each takes in the blank lines below it, the first also those above: the blocks tile the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import accumulate
from typing import Final

from fencepost.documents.domain.chunking.noise import Noise, find_noise
from fencepost.kernel.links import plain_text
from fencepost.kernel.markdown import MarkdownLine, scan

_DELIMITERS: Final = re.compile(r"[\s>]*[|:-][\s|:-]*$")
_HTML_TABLE: Final = re.compile(r"\s*<table[\s>]", re.IGNORECASE)
_HTML_TABLE_END: Final = "</table>"
_INTRODUCES: Final = (":", "：")


class BlockKind(Enum):
    """What a block is: `SOLID` is code or a table, which is not cut; `NOISE` says nothing."""

    HEADING = auto()
    PROSE = auto()
    SOLID = auto()
    NOISE = auto()


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """One block of a text.

    Attributes:
        start, end: in code points, end exclusive.
        level: 1–6 for a heading, 1 for a front matter with a title, else 0.
        title: plain text of a heading or front matter.
        indent: characters before its first.
        close: whether it belongs to what stands above: no blank line parts them, or that ends with a colon.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    title: str = ""
    indent: int = 0
    close: bool = False


def find_blocks(text: str) -> list[MarkdownBlock]:
    """Return the blocks of a text, in order; none for a text without characters."""
    lines = scan(text)
    return _Blocks(lines).found() if lines else []


class _Blocks:
    def __init__(self, lines: Sequence[MarkdownLine]) -> None:
        self._lines = lines
        self._offsets = [0, *accumulate(len(line.text) for line in lines)]
        self._noise = {noise.start: noise for noise in find_noise(lines)}
        self._headings = [0, *accumulate(line.level > 0 for line in lines)]
        self._table_ends = [n for n, line in enumerate(lines) if _HTML_TABLE_END in line.text.lower()]

    def found(self) -> list[MarkdownBlock]:
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
        if noise := self._noise_at(index):
            return MarkdownBlock(BlockKind.NOISE, start, end, int(bool(noise.title)), noise.title)
        return MarkdownBlock(BlockKind.PROSE, start, end, indent=indent, close=self._belongs_above(index))

    def _below(self, index: int) -> int:
        """Return the first line from `index` on that is not blank."""
        while index < len(self._lines) and self._lines[index].blank and not self._lines[index].code:
            index += 1
        return index

    def _end(self, index: int) -> int:
        """Return the line behind the last one of the block that begins at `index`."""
        if index == len(self._lines) or self._lines[index].level:
            return min(index + 1, len(self._lines))
        if self._lines[index].code:
            return self._code_end(index)
        if self._is_table(index):
            return self._table_end(index)
        if noise := self._noise_at(index):
            return noise.end
        return self._paragraph_end(index)

    def _code_end(self, index: int) -> int:
        end = index + 1
        while end < len(self._lines) and self._lines[end].code and not self._lines[end].opens:
            end += 1
        return end

    def _paragraph_end(self, index: int) -> int:
        end = index + 1
        while end < len(self._lines) and self._goes_on(end) and not self._is_table(end) and end not in self._noise:
            end += 1
        return end

    def _goes_on(self, index: int) -> bool:
        line = self._lines[index]
        return not (line.blank or line.code or line.level)

    def _noise_at(self, index: int) -> Noise | None:
        return self._noise.get(index)

    def _is_table(self, index: int) -> bool:
        text = self._lines[index].text
        if "|" in text:
            return index + 1 < len(self._lines) and self._is_second_row(text, self._lines[index + 1])
        return _HTML_TABLE.match(text) is not None and self._html_table_end(index) is not None

    def _is_second_row(self, first: str, second: MarkdownLine) -> bool:
        if second.code or "|" not in second.text:
            return False
        barred = first.lstrip(" \t>").startswith("|") and second.text.lstrip(" \t>").startswith("|")
        return barred or _DELIMITERS.match(second.text) is not None

    def _table_end(self, index: int) -> int:
        if "|" not in self._lines[index].text and (end := self._html_table_end(index)) is not None:
            return end
        end = index + 1
        while end < len(self._lines) and self._goes_on(end) and "|" in self._lines[end].text:
            end += 1
        return end

    def _html_table_end(self, index: int) -> int | None:
        place = bisect_left(self._table_ends, index)
        if place == len(self._table_ends):
            return None
        end = self._table_ends[place] + 1
        # A table that was left open ends where somebody began anew.
        return end if self._headings[index] == self._headings[end] else None

    def _belongs_above(self, index: int) -> bool:
        above = index - 1
        if above >= 0 and not self._lines[above].blank:
            return True
        while above >= 0 and self._lines[above].blank:
            above -= 1
        return above >= 0 and self._lines[above].text.rstrip().endswith(_INTRODUCES)


MAX_SECTIONS: Final = 10_000
"""Up to so many, each section of a text is one; beyond, those shorter than `ROOMY_CHARACTERS` are joined."""
ROOMY_CHARACTERS: Final = 2_000


@dataclass(frozen=True, slots=True)
class OutlineSection:
    """Blocks of one place in a text, and the plain text of the headings above it, outermost first."""

    breadcrumb: tuple[str, ...]
    blocks: tuple[MarkdownBlock, ...]


def outline(blocks: Sequence[MarkdownBlock]) -> Iterator[OutlineSection]:
    """Yield the sections of a text.

    A heading that nothing but headings and noise stands below begins the section of the next one that has a body.
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
