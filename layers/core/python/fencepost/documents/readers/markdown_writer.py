"""Writes the elements of an HTML page as Markdown. Text on the page cannot add Markdown structure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import takewhile
from typing import Final

from fencepost.kernel.text import legible

_HEADINGS: Final = {f"h{level}": f"{'#' * level} " for level in range(1, 7)}
_LISTS: Final = frozenset({"ol", "ul"})
_NESTING: Final = frozenset({"blockquote", "li"}) | _LISTS
_CELLS: Final = frozenset({"td", "th"})
_CODE: Final = frozenset({"code", "kbd", "samp", "tt"})
_INLINE: Final = frozenset({"a", "br", "img"}) | _CODE
_BLOCKS: Final = (
    frozenset({"address", "article", "aside", "body", "caption", "center", "dd", "details", "div", "dl", "dt"})
    | frozenset({"fieldset", "figcaption", "figure", "form", "header", "hgroup", "hr", "main", "p", "pre", "section"})
    | frozenset({"summary", "table"})
    | frozenset(_HEADINGS)
    | _NESTING
)
_MOST_INDENTS: Final = 8
"""Depth at which deeper lists and quotations are written: indenting every level would take quadratic space."""
_ADDRESS: Final = re.compile(r"(?:(?:https?:|mailto:|tel:|[/?.])\S*|[^\s:#]+)", re.IGNORECASE)
_ENCODED: Final = str.maketrans({" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E"})
_ANCHORS: Final = frozenset({"", "#", "¶", "§", "🔗", "\u200b"})
_LANGUAGE: Final = re.compile(r"\b(?:language|lang|highlight-source)-([\w+#-]{1,40})")
# Text that would start a heading, fence, rule, table or quotation at the beginning of a line.
_STRUCTURE: Final = re.compile(r"(?=#{1,6}\s|`{3}|~{3}|-{3}|={3}|\*{3}|_{3}|\||>)")
_BACKTICKS: Final = re.compile(r"`{3,}")
_BREAK: Final = "\x00"

type ElementAttributes = Mapping[str, str | None]


class MarkdownWriter:
    """Receives the elements and text of one page in order, and returns the Markdown."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._words: list[str] = []
        self._links: list[int] = []
        self._mark = ""
        self._indents: list[str] = []
        self._counters: list[int | None] = []
        self._last_indent, self._tight = "", False
        self._rows: list[list[str]] = []
        self._tables = 0
        self._pre = 0
        self._language = ""

    def text(self) -> str:
        """Return the Markdown of all that was received; empty for an empty page."""
        self._end_block()
        return "\n".join(self._lines).strip("\n")

    def say(self, words: str) -> None:
        """Add text to the open block."""
        self._words.append(legible(words.replace(_BREAK, "")))

    def open(self, tag: str, attributes: ElementAttributes) -> None:
        """Open an element."""
        if tag in _INLINE:
            self._open_inline(tag, attributes)
        elif self._tables and tag != "table":
            self._open_in_table(tag)
        elif tag in _BLOCKS:
            self._open_block(tag)
        if self._pre and (match := _LANGUAGE.search(attributes.get("class") or "")):
            self._language = match[1]

    def close(self, tag: str, attributes: ElementAttributes) -> None:
        """Close an element."""
        if tag in _CODE:
            self._words.append("" if self._pre else "`")
        elif tag in _INLINE:
            if tag == "a" and self._links:
                self._end_link(self._links.pop(), (attributes.get("href") or "").strip().translate(_ENCODED))
        elif tag == "table":
            self._end_table()
        elif self._tables:
            self._close_in_table(tag)
        elif tag in _BLOCKS:
            self._close_block(tag)

    def _open_inline(self, tag: str, attributes: ElementAttributes) -> None:
        match tag:
            case "br":
                self._words.append("\n" if self._pre else _BREAK)
            case "img":
                self._words.append(f" {attributes.get('alt') or ''} ")
            case "a":
                self._links.append(len(self._words))
            case _:
                self._words.append("" if self._pre else "`")

    def _end_link(self, start: int, address: str) -> None:
        written = "".join(self._words[start:])
        words = _line(written)
        if address.startswith("#") and words in _ANCHORS:
            del self._words[start:]
        elif words and not self._pre and _ADDRESS.fullmatch(address):
            label = words.replace("[", "(").replace("]", ")")
            before, after = (" " if end.isspace() else "" for end in (written[0], written[-1]))
            self._words[start:] = [f"{before}[{label}]({address}){after}"]

    def _open_block(self, tag: str) -> None:
        if not self._tables:
            self._end_block()
        if tag == "table":
            self._tables += 1
        elif tag == "pre":
            self._pre, self._language = self._pre + 1, ""
        elif tag == "hr":
            self._put("***")
        elif tag in _HEADINGS:
            self._mark = _HEADINGS[tag]
        elif tag in _NESTING:
            self._nest(tag)

    def _nest(self, tag: str) -> None:
        if tag in _LISTS:
            self._counters.append(1 if tag == "ol" else None)
        elif tag == "blockquote":
            self._indents.append("> ")
        else:
            self._mark = self._item_mark()
            self._indents.append(" " * len(self._mark))

    def _item_mark(self) -> str:
        number = self._counters[-1] if self._counters else None
        if number is None:
            return "- "
        self._counters[-1] = number + 1
        return f"{number}. "

    def _close_block(self, tag: str) -> None:
        self._end_block()
        if tag == "pre":
            self._pre -= 1
        elif tag in _LISTS:
            self._counters.pop()
            self._tight = self._tight and bool(self._counters)
        elif tag in _NESTING:
            self._indents.pop()
        if tag == "li" or tag in _HEADINGS:
            self._mark = ""

    def _end_block(self) -> None:
        written, self._words = "".join(self._words), []
        # A link around several blocks is written around the last one.
        self._links = [0] * len(self._links)
        if self._pre:
            code = written.replace("\r", "").strip("\n")
            if code and not code.isspace():
                fence = "`" * max(map(len, ["``", *_BACKTICKS.findall(code)])) + "`"
                self._put(f"{fence}{self._language}\n{code}\n{fence}")
            return
        texts = [_line(written)] if self._mark.startswith("#") else map(_line, written.split(_BREAK))
        if lines := [_escaped(text) for text in texts if text]:
            self._put("\n".join(lines))

    def _put(self, block: str) -> None:
        """Write a block: its first line after the item or heading mark, the others indented as deep."""
        indent = "".join(self._indents[:_MOST_INDENTS])
        is_item = bool(self._mark) and not self._mark.startswith("#")
        first = indent.removesuffix(" " * len(self._mark)) if is_item else indent
        head, *rest = block.split("\n")
        if self._lines and not (is_item and self._tight):
            self._lines.append(_shared(self._last_indent, indent).rstrip())
        self._lines.extend([f"{first}{self._mark}{head}", *(f"{indent}{line}".rstrip() for line in rest)])
        self._mark, self._tight, self._last_indent = "", is_item, indent

    def _open_in_table(self, tag: str) -> None:
        if self._tables > 1 or tag in _BLOCKS:
            self._words.append(" ")
        elif tag == "tr":
            self._rows.append([])
        elif tag in _CELLS:
            self._words.clear()

    def _close_in_table(self, tag: str) -> None:
        if self._tables > 1 or tag in _BLOCKS - {"caption"}:
            self._words.append(" ")
        elif tag == "caption":
            self._end_block()
        elif tag in _CELLS and self._rows:
            self._rows[-1].append(_line("".join(self._words)))
            self._words, self._links = [], [0] * len(self._links)

    def _end_table(self) -> None:
        self._tables -= 1
        if self._tables:
            return
        rows, self._rows, self._words = [row for row in self._rows if any(row)], [], []
        if max(map(len, rows), default=0) > 1:
            self._put("\n".join(_table(rows)))
            return
        # A table of one column is layout.
        for row in rows:
            self._put(_escaped(row[0]))


def _table(rows: list[list[str]]) -> list[str]:
    width = max(map(len, rows))
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (escaped[0], ["---"] * width, *escaped[1:])]


def _shared(first: str, second: str) -> str:
    """Return the common prefix."""
    pairs = zip(first, second, strict=False)
    return "".join(left for left, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _line(words: str) -> str:
    return " ".join(words.replace(_BREAK, " ").split())


def _escaped(line: str) -> str:
    """Return a line that Markdown does not read as structure."""
    return f"\\{line}" if _STRUCTURE.match(line) else line
