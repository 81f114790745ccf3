"""What stands in documents for machines: front matter, imports, components' tags, comments, links to themselves.

It belongs to a piece's span like everything else, and says nothing to whoever looks for a passage.
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
_SAID: Final = re.compile(r"\b(?:title|label|alt|description|summary)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_SELF_LINK: Final = re.compile(r"\[[^\[\]]*\]\(#[^()\s]*\)\s*$")
_SELF_MARK: Final = re.compile(r"\[[\u200b\s#¶]*\]\([^()\s#]*#[^()\s]*(?:\s\"[^\"]*\")?\)")


@dataclass(frozen=True, slots=True)
class Noise:
    """Lines that say nothing, from `start` to before `end`. `title` is what a front matter calls its page."""

    start: int
    end: int
    title: str = ""


def find_noise(lines: Sequence[MarkdownLine]) -> Iterator[Noise]:
    """Yield the runs of lines that are noise, in order. Inside code there is none."""
    index = 0
    while index < len(lines):
        found = None if lines[index].code or lines[index].blank else _noise_at(lines, index)
        if found:
            yield found
        index = found.end if found else index + 1


def spoken(text: str) -> str:
    """Return what a piece says: its text without noise, as it is embedded; all of it where it is noise alone.

    Of a component's tag its title, label or description stays.
    """
    lines = scan(text)
    said: list[str] = []
    place = 0
    for noise in find_noise(lines):
        said.extend(_without_marks(line) for line in lines[place : noise.start])
        said.extend(_attributes("".join(line.text for line in lines[noise.start : noise.end])))
        place = noise.end
    said.extend(_without_marks(line) for line in lines[place:])
    return "".join(said).strip() or text.strip()


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
    """Return the lines up to the one that matches, or where none has to, before the next that is blank."""
    for end in range(index + 1, min(len(lines), index + _IMPORT_LINES)):
        if lines[end].blank or lines[end].code:
            return None if last else Noise(index, end)
        if last and last.match(lines[end].text):
            return Noise(index, end + 1)
    return None if last else Noise(index, min(len(lines), index + _IMPORT_LINES))


def _attributes(text: str) -> Iterator[str]:
    if text.lstrip().startswith("<"):
        yield from (f"{match[1] or match[2]}\n" for match in _SAID.finditer(text) if match[1] or match[2])


def _without_marks(line: MarkdownLine) -> str:
    return _SELF_MARK.sub("", line.text) if line.level else line.text
