"""Find headings and fenced code blocks in Markdown, line by line, so that files are never split inside a code block.

This is a scanner, not a CommonMark parser: `llms-full.txt` files join thousands of pages, some of them MDX, and every
character must be preserved. It runs in linear time for any input.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass

_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_UNDERLINE = re.compile(r"={3,}\s*$")
_RULE = re.compile(r"(-{3,}|\*{3,}|_{3,}|={3,})\s*$")
# Longer fences count as this long, which bounds the number of searches for a missing end.
_LONGEST_FENCE = 16


@dataclass(frozen=True, slots=True)
class MarkdownLine:
    """A line of a document.

    Attributes:
        text: the unchanged line, with its line end.
        code: whether the line is part of a fenced code block, including its fences.
        level: 1 to 6 for a heading, 0 otherwise.
        heading: text of a heading, in Markdown.
        opens: whether the line is the first of a fenced code block.
    """

    text: str
    code: bool = False
    level: int = 0
    heading: str = ""
    opens: bool = False

    @property
    def blank(self) -> bool:
        """Whether the line is empty or whitespace."""
        return not self.text or self.text.isspace()

    @property
    def rule(self) -> bool:
        """Whether the line is a thematic break, or an underline that looks like one."""
        return not self.code and _RULE.match(self.text) is not None


def scan(raw: str) -> list[MarkdownLine]:
    """Return the lines of a document. Their joined texts equal the document."""
    texts = list(io.StringIO(raw, newline=""))
    lines: list[MarkdownLine] = []
    ends = _FenceEnds(texts)
    while len(lines) < len(texts):
        start = len(lines)
        end = ends.of_block_at(start)
        if end is None:
            lines.append(_plain_line(texts, start))
        else:
            lines.append(MarkdownLine(texts[start], code=True, opens=True))
            lines.extend(MarkdownLine(text, code=True) for text in texts[start + 1 : end + 1])
    return lines


def _plain_line(texts: list[str], index: int) -> MarkdownLine:
    text = texts[index]
    if match := _HEADING.match(text):
        return MarkdownLine(text, level=len(match[1]), heading=match[2].rstrip().rstrip("#").rstrip())
    # A blank line before tells an underlined heading from a line between two separators.
    starts_paragraph = not text.isspace() and (index == 0 or texts[index - 1].isspace())
    if starts_paragraph and index + 1 < len(texts) and _UNDERLINE.match(texts[index + 1]):
        return MarkdownLine(text, level=1, heading=text.strip())
    return MarkdownLine(text)


class _FenceEnds:
    """Finds the ends of fenced blocks. A fence without an end is ignored, so it does not swallow the file."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        # Length of the shortest fence of each kind that has no end below; longer ones have none either.
        self._unclosed = {"`": _LONGEST_FENCE + 1, "~": _LONGEST_FENCE + 1}

    def of_block_at(self, start: int) -> int | None:
        """Return the index of the last line of the fenced block that begins at `start`; None if none begins there."""
        match = _FENCE.match(self._texts[start])
        if not match:
            return None
        kind, length = match[1][0], min(len(match[1]), _LONGEST_FENCE)
        if length >= self._unclosed[kind]:
            return None
        for index in range(start + 1, len(self._texts)):
            line = self._texts[index].strip()
            if line.startswith(kind * length) and line == kind * len(line):
                return index
        self._unclosed[kind] = length
        return None
