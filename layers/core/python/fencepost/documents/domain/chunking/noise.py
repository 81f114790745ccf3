"""Noise in documents, written for machines: front matter, imports, component tags, comments, links to themselves.

Noise is part of a chunk's span and text, but is left out of the text that is embedded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from fencepost.kernel.links import plain_text
from fencepost.kernel.markdown import MarkdownLine, scan

_FRONT_MATTER_LINES: Final = 50
_IMPORT_LINES: Final = 30
_DASHES: Final = re.compile(r"-{3,}\s*$")
_KEY: Final = re.compile(r"[A-Za-z][\w-]*:(\s|$)")
_KEY_LINE: Final = re.compile(r"[\w\"'-]+:|\s+\S|- |#")
_TITLE: Final = re.compile(r"title:[ \t]*(\S.*)")
_IMPORT: Final = re.compile(r"(?:import|export)\s(?:[^'\"]*\sfrom\s*)?['\"][^'\"]+['\"];?\s*$")
_IMPORT_BEGIN: Final = re.compile(r"(?:import|export)\s(?:type\s)?(?:\w+\s*,\s*)?\{[^}]*$")
_IMPORT_END: Final = re.compile(r"[^'\"]*\}\s*from\s*['\"][^'\"]+['\"];?\s*$")
_EXPORT: Final = re.compile(r"export\s+(?:const|let|var|default|function)\b")
_COMMENT: Final = re.compile(r"\s*(?:<!--(?:[^-]|-(?!->))*-->|\{/\*(?:[^*]|\*(?!/))*\*/\})\s*$")
_TAG: Final = re.compile(r"\s*</?[A-Za-z][\w.:-]*(?:\s[^<>]*)?/?>\s*$")
_TAG_BEGIN: Final = re.compile(r"\s*<[A-Z][\w.]*\s*$")
_TAG_END: Final = re.compile(r"[^<>]*/?>\s*$")
_LABEL: Final = re.compile(r"\b(?:title|label|alt|description|summary)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_SELF_LINK: Final = re.compile(r"\[[^\[\]]*\]\(#[^()\s]*\)\s*$")
_SELF_MARK: Final = re.compile(r"\[[\u200b\s#¶]*\]\([^()\s#]*#[^()\s]*(?:\s\"[^\"]*\")?\)")


@dataclass(frozen=True, slots=True)
class Noise:
    """A run of noise, from line `start` to before line `end`. `title` is the title in front matter; empty for none."""

    start: int
    end: int
    title: str = ""


def find_noise(lines: Sequence[MarkdownLine]) -> Iterator[Noise]:
    """Yield the runs of noise, in order. Lines of code are never noise."""
    index = 0
    while index < len(lines):
        found = None if lines[index].code or lines[index].blank else _noise_at(lines, index)
        if found:
            yield found
        index = found.end if found else index + 1


def without_noise(text: str) -> str:
    """Return the text of a chunk without noise, as it is embedded; the whole text if it is noise only.

    The titles, labels and descriptions in component tags are kept.
    """
    lines = scan(text)
    kept: list[str] = []
    index = 0
    for noise in find_noise(lines):
        kept.extend(_without_marks(line) for line in lines[index : noise.start])
        tag = "".join(line.text for line in lines[noise.start : noise.end])
        if tag.lstrip().startswith("<"):
            kept.extend(f"{match[1] or match[2]}\n" for match in _LABEL.finditer(tag) if match[1] or match[2])
        index = noise.end
    kept.extend(_without_marks(line) for line in lines[index:])
    return "".join(kept).strip() or text.strip()


def _noise_at(lines: Sequence[MarkdownLine], index: int) -> Noise | None:
    text = lines[index].text
    if text.startswith("-") and _DASHES.match(text):
        return _front_matter(lines, index) or Noise(index, index + 1)
    if text.startswith(("import", "export")):
        return _module(lines, index)
    if _TAG_BEGIN.match(text):
        return _until(lines, index, _TAG_END)
    if lines[index].rule or _COMMENT.match(text) or _TAG.match(text) or _SELF_LINK.match(text):
        return Noise(index, index + 1)
    return None


def _front_matter(lines: Sequence[MarkdownLine], index: int) -> Noise | None:
    title = ""
    for end in range(index + 1, min(len(lines), index + 1 + _FRONT_MATTER_LINES)):
        text = lines[end].text
        if _DASHES.match(text):
            return Noise(index, end + 1, title) if end > index + 1 else None
        if not (_KEY if end == index + 1 else _KEY_LINE).match(text):
            return None
        if match := _TITLE.match(text):
            title = title or plain_text(match[1].strip().strip("\"'"))
    return None


def _module(lines: Sequence[MarkdownLine], index: int) -> Noise | None:
    text = lines[index].text
    if _IMPORT.match(text):
        return Noise(index, index + 1)
    if _IMPORT_BEGIN.match(text):
        return _until(lines, index, _IMPORT_END)
    return _until(lines, index, None) if _EXPORT.match(text) else None


def _until(lines: Sequence[MarkdownLine], index: int, last: re.Pattern[str] | None) -> Noise | None:
    """Return the lines up to the one that matches `last`; without `last`, up to the next blank line."""
    for end in range(index + 1, min(len(lines), index + _IMPORT_LINES)):
        if lines[end].blank or lines[end].code:
            return None if last else Noise(index, end)
        if last and last.match(lines[end].text):
            return Noise(index, end + 1)
    return None if last else Noise(index, min(len(lines), index + _IMPORT_LINES))


def _without_marks(line: MarkdownLine) -> str:
    """Return a line; a heading without its link to itself."""
    return _SELF_MARK.sub("", line.text) if line.level else line.text
