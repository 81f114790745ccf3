"""Citations in an answer: replaces the markers that a model writes by numbers that a reader can follow.

An answer is untrusted, since a prompt injection can make the model write any text. So unknown ids are removed, no text
becomes a link that was not one before, and code is not changed. All functions take linear time for any text.
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
# `[1]: address` would turn our numbers into links wherever a paragraph can begin: after list markers and quotation
# marks in any order and after a footnote's name, so wherever no word precedes it on its line. The label may continue on
# further lines, quoted ones too. The atomic group matches each position in one way only, which keeps the search linear.
_DEFINITION = re.compile(
    r"(?<![^\r\n])((?>\[\^[^\[\]\r\n]{1,99}\]:|[^\w\r\n]|[\d_])*?)(?<!\\)\[(?=[\s\ufeff>]*\d{1,9}[\s\ufeff>]*\]:)"
)
# In a text that contains one of these, a renderer may not see code between two fences: HTML swallows an opening fence,
# and the end of a list ends the code block in it.
_DOUBTFUL = re.compile(r"^(?:[ \t>*+-]*<[A-Za-z!?/]|[ \t]+(?:```|~~~))", re.MULTILINE)
# A marker without its closing bracket, in a text that is split before each bracket.
_OPENED = re.compile(rf"[\[【] ?(?:{_KINDS}):[^\[\]【】\n]{{1,400}}")
_AT_BRACKETS = re.compile(r"(?=[\[\]【】])")
_BACKTICKS = re.compile(r"`+")


def resolve(text: str, sources: Sequence[Source]) -> tuple[str, tuple[Source, ...]]:
    """Replace citation markers by numbers.

    `[doc:<id>]` with a known id becomes `[1]`, `[2]` … in order of first citation. Markers of `file:`, `fact:`,
    `summary:` and `msg:` are replaced in the same way. A marker with an unknown id is removed, and the space before it
    as well. Markers in code blocks and code spans are kept. A link reference definition that would turn a number into a
    link is escaped; in code, only if a renderer may not see it as code.

    Args:
        text: the model's answer, in Markdown.
        sources: the sources that the prompt contained.

    Returns:
        The answer, and the cited sources only, `[1]` first. Their titles and addresses are inert in Markdown. The
        address is empty unless the source is a section of the documentation and has a web address.
    """
    numbering = _Numbering(sources)
    parts = [
        (part if code else without_markers(_MARKER.sub(numbering.marker, part)), code) for part, code in _parts(text)
    ]
    return _without_definitions(parts), tuple(numbering.cited)


def without_markers(text: str) -> str:
    """Return a text without citation markers, whether their ids are known or not.

    The text around a removed marker is examined again, so that it does not form a new marker.
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
    """Join the texts around a removed marker, without the space before it.

    A space separates the texts if they would form a link.
    """
    parting = " " if after.startswith("(") else ""
    return f"{before[:-1] if before.endswith((' ', '\t')) else before}{parting}{after}"


class _Numbering:
    """Numbers the cited sources in order of first citation."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._known = {source.id: source for source in sources}
        self._numbers: dict[str, int] = {}

    @property
    def cited(self) -> Iterator[Source]:
        """Yield the numbered sources in order, with titles and addresses that are inert in Markdown."""
        for source in map(self._known.__getitem__, self._numbers):
            # Only documentation has an address, whatever is stored for another source.
            linked = marker_id(source.id).startswith("doc:") and is_web_address(source.url)
            yield replace(source, title=plain_text(source.title), url=source.url if linked else "")

    def marker(self, match: re.Match[str]) -> str:
        """Return the numbers that replace a marker; empty, or a space, if none of its ids is known."""
        ids = [source_id for source_id in _ids(match[1]) if source_id in self._known]
        numbers = [self._numbers.setdefault(source_id, len(self._numbers) + 1) for source_id in ids]
        # Followed directly by an address or a label, the number, or the one before it, would become a link.
        parting = " " if match[2] else ""
        if not numbers:
            return parting
        space = match[0][: len(match[0]) - len(match[0].lstrip())]
        return space + "".join(f"[{number}]" for number in dict.fromkeys(numbers)) + parting


def _ids(marker: str) -> Iterator[str]:
    """Yield the ids of a marker. An id without a kind has the kind of the id before it."""
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
        # Each line of a code span over several lines may begin a block quote instead.
        is_long_span = part.startswith("`") and "\n" in part
        return definition[0] if is_code and not (doubtful or is_long_span) else f"{definition[1]}\\["

    return _DEFINITION.sub(escaped, text)


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the segments of a text, and whether each is code. An unfinished marker at the end is dropped."""
    for paragraph, is_block in _paragraphs(_UNFINISHED.sub("", text)):
        if is_block:
            yield paragraph, True
        else:
            yield from _spans(paragraph)


def _paragraphs(text: str) -> Iterator[tuple[str, bool]]:
    """Yield code blocks and the paragraphs between them, and whether each is code.

    Text is split at blank lines, since a code span ends at a blank line.
    """
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
    """Yield a paragraph's code spans and the prose between them, and whether each is code.

    A code span ends at the next run of backticks of the same length (CommonMark 6.1).
    """
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
"""Limit of a statement in Unicode code points. A longer line is no summary and is dropped."""

_LONGEST = 2_000  # Characters with markers. Longer lines are skipped, which bounds the time of the patterns.

_BULLET = re.compile(r"^\s*(?:[•・]\s*|(?:[-*–]|\d{1,3}[.)])\s+)")
_SOURCE_MARKER = re.compile(r"\s*[\[【]\s*((?:msg|fact):[^\[\]【】\n]{1,200})[\]】]")
_LABEL = re.compile(r"(?:(msg|fact):)?\s*(\d{1,12})\s*(?:[,;、]|$)")


class SourcedLine(NamedTuple):
    """One statement without its markers, the ids of its source messages, and the ids of the facts that it names."""

    text: str
    messages: tuple[str, ...]
    facts: tuple[str, ...] = ()


def sourced_lines(
    text: str, messages: Mapping[int, str], facts: Mapping[int, str] | None = None
) -> Iterator[SourcedLine]:
    """Yield the lines that cite at least one known message, in order.

    Args:
        text: the model's output, one statement a line: `- a statement [msg:3][msg:4]`.
        messages: ids of the messages that a line may cite, by the numbers that the model was shown.
        facts: ids of the facts that a line may name, by the numbers that the model was shown.
    """
    for line in (line for line in text.splitlines() if len(line) <= _LONGEST):
        labels = [label for marker in _SOURCE_MARKER.finditer(line) for label in _labels(marker[1])]
        statement = " ".join(_SOURCE_MARKER.sub("", _BULLET.sub("", line)).split())
        sources = _known(labels, "msg", messages)
        if sources and statement and len(statement) <= MAX_LINE_CHARACTERS:
            yield SourcedLine(statement, sources, _known(labels, "fact", facts or {}))


def _labels(marker: str) -> Iterator[tuple[str, int]]:
    """Yield the kind and number of each label. `msg:3, 4` means the same as `msg:3, msg:4`."""
    kind = ""
    for label in _LABEL.finditer(marker):
        kind = label[1] or kind
        yield kind, int(label[2])


def _known(labels: list[tuple[str, int]], kind: str, ids: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids[number] for named, number in labels if named == kind and number in ids))
