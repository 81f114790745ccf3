"""Markdown by the line: just enough of CommonMark to cut a file without cutting a code block.

A scanner of lines and not a parser: files of `llms-full.txt` join thousands of pages, MDX among them, and no character
may be lost on the way. It runs in linear time whatever the input.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass

_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_UNDERLINE = re.compile(r"={3,}\s*$")
_RULE = re.compile(r"(-{3,}|\*{3,}|_{3,}|={3,})\s*$")
# Longer runs count as this long, so that looking for a missing end happens a bounded number of times.
_LONGEST_FENCE = 16


@dataclass(frozen=True, slots=True)
class MarkdownLine:
    """One line with its end.

    Attributes:
        text: the line as it stands, line end included.
        code: whether it belongs to a fenced code block, the fences included.
        level: 1–6 for a heading, else 0.
        heading: a heading's text in Markdown.
        opens: whether it is the first line of a fenced code block.
    """

    text: str
    code: bool = False
    level: int = 0
    heading: str = ""
    opens: bool = False

    @property
    def blank(self) -> bool:
        """Whether nothing is to be seen on it."""
        return not self.text or self.text.isspace()

    @property
    def rule(self) -> bool:
        """Whether it is a thematic break, or an underline of the same shape."""
        return not self.code and _RULE.match(self.text) is not None


def scan(raw: str) -> list[MarkdownLine]:
    """Return the lines of a document; their texts joined are the document again."""
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
    if _is_underlined(texts, index):
        return MarkdownLine(text, level=1, heading=text.strip())
    return MarkdownLine(text)


def _is_underlined(texts: list[str], index: int) -> bool:
    """Whether a line is a paragraph of its own with an underline, and not what stands between two separators."""
    if index + 1 == len(texts) or not _UNDERLINE.match(texts[index + 1]):
        return False
    return not texts[index].isspace() and (index == 0 or texts[index - 1].isspace())


class _FenceEnds:
    """Finds the end of fenced blocks. A fence that nothing closes is no fence, so one slip does not swallow a file."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        # The shortest fence of each kind that has no end further down; none that is as long has one either.
        self._unclosed = {"`": _LONGEST_FENCE + 1, "~": _LONGEST_FENCE + 1}

    def of_block_at(self, start: int) -> int | None:
        """Return the index of the last line of the fenced block that begins at `start`, or None where none begins."""
        match = _FENCE.match(self._texts[start])
        if not match:
            return None
        kind, length = match[1][0], min(len(match[1]), _LONGEST_FENCE)
        if length >= self._unclosed[kind]:
            return None
        for index in range(start + 1, len(self._texts)):
            if _closes(self._texts[index].strip(), kind, length):
                return index
        self._unclosed[kind] = length
        return None


def _closes(stripped: str, kind: str, length: int) -> bool:
    return stripped.startswith(kind * length) and stripped == kind * len(stripped)
