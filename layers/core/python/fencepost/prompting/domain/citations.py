"""Citations in an answer: from the markers that a model writes to numbers that a reader follows.

The answer is the model's, and a model can be talked into anything: unknown ids go, nothing becomes a link that was
none, and code stays as it is. Linear time whatever the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from fencepost.kernel.links import is_web_address, plain_text
from fencepost.kernel.markdown import scan
from fencepost.model.domain import Source
from fencepost.prompting.domain.fence import marker_id

_KINDS = "doc|file|fact|summary|msg"
_MARKER = re.compile(rf"[ \t]?[\[【] ?((?:{_KINDS}):[^\[\]【】\n]{{1,400}})[\]】](?=(\(|\[(?! ?(?:{_KINDS}):))?)")
_ID = re.compile(rf"\s*(?:({_KINDS}):)?\s*([^,;]*[^,;\s])")
_UNFINISHED = re.compile(rf"[ \t]?[\[【] ?(?:{_KINDS}):[^\[\]【】\n]{{0,400}}\Z")
# `[1]: address` would make links of our numbers wherever a paragraph can begin: after list and quotation marks in any
# order and after a footnote's name, so wherever else no word stands before it on its line. The label may go on over
# lines, quoted ones too. The atomic group reads each place in one way only, which keeps this linear.
_DEFINITION = re.compile(
    r"(?<![^\r\n])((?>\[\^[^\[\]\r\n]{1,99}\]:|[^\w\r\n]|[\d_])*?)(?<!\\)\[(?=[\s\ufeff>]*\d{1,9}[\s\ufeff>]*\]:)"
)
# Where one of these stands, a renderer may see no code between two fences: HTML swallows an opening one, and a list
# that ends takes the block in it along.
_DOUBTFUL = re.compile(r"^(?:[ \t>*+-]*<[A-Za-z!?/]|[ \t]+(?:```|~~~))", re.MULTILINE)
# A marker up to its closing bracket, where a text is cut before each of its brackets.
_OPENED = re.compile(rf"[\[【] ?(?:{_KINDS}):[^\[\]【】\n]{{1,400}}")
_AT_BRACKETS = re.compile(r"(?=[\[\]【】])")
_BACKTICKS = re.compile(r"`+")


def resolve(text: str, sources: Sequence[Source]) -> tuple[str, tuple[Source, ...]]:
    """Replace citation markers by numbers.

    `[doc:<id>]` of a known id becomes `[1]`, `[2]` … in order of first citation, and so do `file:`, `fact:`, `summary:`
    and `msg:`; an unknown one is removed with the space before it. Code blocks and code spans keep their markers. A
    definition that would make a link of a number is escaped, in code only where a renderer may see none.

    Args:
        text: the model's answer, in Markdown.
        sources: what stood in the prompt.

    Returns:
        The answer, and exactly the cited sources, `[1]` first. Their titles and addresses are inert in Markdown; a
        source that is no section of the documentation, or has no web address, is returned with an empty one.
    """
    numbering = _Numbering(sources)
    parts = [
        (part if code else without_markers(_MARKER.sub(numbering.marker, part)), code) for part, code in _parts(text)
    ]
    return _without_definitions(parts), tuple(_inert(source) for source in numbering.cited)


def without_markers(text: str) -> str:
    """Return a text without anything that reads as a citation marker, whatever it names.

    Nor does one come about where one was: what a marker stood inside of is looked at again as the text it then is.
    """
    kept = [""]
    for piece in _AT_BRACKETS.split(text):
        if piece[:1] in ("]", "】") and _OPENED.fullmatch(kept[-1]):
            kept.pop()
            kept[-1] = _joined(kept[-1], piece[1:])
        else:
            kept.append(piece)
    return "".join(kept)


def _joined(before: str, after: str) -> str:
    """Return what stood around a marker: without the space before it, but apart where that would make a link."""
    parting = " " if after.startswith("(") else ""
    return f"{before[:-1] if before.endswith((' ', '\t')) else before}{parting}{after}"


class _Numbering:
    """Gives each cited source the next number."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._known = {source.id: source for source in sources}
        self._numbers: dict[str, int] = {}

    @property
    def cited(self) -> Iterator[Source]:
        """Return the sources that have a number, in order."""
        return (self._known[identifier] for identifier in self._numbers)

    def marker(self, match: re.Match[str]) -> str:
        """Return what stands for a marker in the answer."""
        ids = [source_id for source_id in _ids(match[1]) if source_id in self._known]
        numbers = [self._numbers.setdefault(source_id, len(self._numbers) + 1) for source_id in ids]
        # An address or a label right after would make a link of it, or of the number before it.
        parting = " " if match[2] else ""
        if not numbers:
            return parting
        space = match[0][: len(match[0]) - len(match[0].lstrip())]
        return space + "".join(f"[{number}]" for number in dict.fromkeys(numbers)) + parting


def _ids(marker: str) -> Iterator[str]:
    """Yield the ids of a marker. One without a kind is of the kind before it."""
    kind = ""
    for identifier in _ID.finditer(marker):
        kind = identifier[1] or kind
        yield identifier[2] if kind == "doc" else f"{kind}:{identifier[2]}"


def _without_definitions(parts: Sequence[tuple[str, bool]]) -> str:
    text = "".join(part for part, _ in parts)
    doubtful = _DOUBTFUL.search(text) is not None
    ends = list(accumulate(len(part) for part, _ in parts))

    def escaped(definition: re.Match[str]) -> str:
        part, is_code = parts[bisect_right(ends, definition.end() - 1)]
        return definition[0] if is_code and not (doubtful or _is_long_span(part)) else f"{definition[1]}\\["

    return _DEFINITION.sub(escaped, text)


def _is_long_span(code: str) -> bool:
    """Whether it is a code span over several lines, each of which may begin a quotation instead."""
    return code.startswith("`") and "\n" in code


def _inert(source: Source) -> Source:
    # What somebody remembers or sends has no address, whatever stands in its row.
    shown = marker_id(source.id).startswith("doc:") and is_web_address(source.url)
    return replace(source, title=plain_text(source.title), url=source.url if shown else "")


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the text in parts that are code or prose."""
    for paragraph, is_block in _paragraphs(_UNFINISHED.sub("", text)):
        if is_block:
            yield paragraph, True
        else:
            yield from _spans(paragraph)


def _paragraphs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield code blocks, and between them what stands between blank lines: a code span ends at a blank line."""
    pending: list[str] = []
    for line in scan(text):
        if line.code or line.blank:
            yield "".join(pending), False
            yield line.text, line.code
            pending = []
        else:
            pending.append(line.text)
    yield "".join(pending), False


def _spans(paragraph: str) -> Iterator[tuple[str, bool]]:
    """Yield a paragraph's code spans and the prose between them (CommonMark 6.1: a run ends at its equal)."""
    runs = list(_BACKTICKS.finditer(paragraph))
    places: dict[int, list[int]] = {}
    for run in runs:
        places.setdefault(len(run[0]), []).append(run.start())
    position = 0
    for run in runs:
        if run.start() < position:
            continue
        same = places[len(run[0])]
        following = bisect_right(same, run.start())
        if following < len(same):
            end = same[following] + len(run[0])
            yield paragraph[position : run.start()], False
            yield paragraph[run.start() : end], True
            position = end
    yield paragraph[position:], False


MAX_LINE_CHARACTERS = 500
"""Unicode code points; a longer line is no summary of anything, and is dropped."""

_LONGEST = 2_000  # With its markers. Longer lines are not even looked at, which bounds what a pattern can cost.

_BULLET = re.compile(r"^\s*(?:[•・]\s*|(?:[-*–]|\d{1,3}[.)])\s+)")
_SOURCE_MARKER = re.compile(r"\s*[\[【]\s*((?:msg|fact):[^\[\]【】\n]{1,200})[\]】]")
_LABEL = re.compile(r"(?:(msg|fact):)?\s*(\d{1,12})\s*(?:[,;、]|$)")


class SourcedLine(NamedTuple):
    """One statement without its markers, the ids of its messages, and of the facts that it names."""

    text: str
    messages: tuple[str, ...]
    facts: tuple[str, ...] = ()


def sourced_lines(
    text: str, messages: Mapping[int, str], facts: Mapping[int, str] | None = None
) -> Iterator[SourcedLine]:
    """Yield the lines that rest on at least one known message, in their order.

    Args:
        text: what the model wrote: `- a statement [msg:3][msg:4]`, one to a line.
        messages: by the number that the model was shown, the id of each message that a line may rest on.
        facts: the same for facts that a line may name.
    """
    for line in (line for line in text.splitlines() if len(line) <= _LONGEST):
        labels = [label for marker in _SOURCE_MARKER.finditer(line) for label in _labels(marker[1])]
        statement = " ".join(_SOURCE_MARKER.sub("", _BULLET.sub("", line)).split())
        sources = _known(labels, "msg", messages)
        if sources and statement and len(statement) <= MAX_LINE_CHARACTERS:
            yield SourcedLine(statement, sources, _known(labels, "fact", facts or {}))


def _labels(marker: str) -> Iterator[tuple[str, int]]:
    """Yield kind and number of each label: `msg:3, msg:4` and `msg:3, 4` are the same."""
    kind = ""
    for label in _LABEL.finditer(marker):
        kind = label[1] or kind
        yield kind, int(label[2])


def _known(labels: list[tuple[str, int]], kind: str, ids: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids[number] for named, number in labels if named == kind and number in ids))
