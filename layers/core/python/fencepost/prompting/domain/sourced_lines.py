"""Lines that a model wrote, each with the messages that it rests on. A line that names none of them is dropped.

The model is shown numbers, not ids: they are short, and one that it makes up is seldom the number of a message that it
was shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

MAX_LINE_CHARACTERS = 500
"""Unicode code points; a longer line is no summary of anything, and is dropped."""

_LONGEST = 2_000  # With its markers. Longer lines are not even looked at, which bounds what a pattern can cost.

_BULLET = re.compile(r"^\s*(?:[•・]\s*|(?:[-*–]|\d{1,3}[.)])\s+)")
_MARKER = re.compile(r"\s*[\[【]\s*((?:msg|fact):[^\[\]【】\n]{1,200})[\]】]")
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
        labels = [label for marker in _MARKER.finditer(line) for label in _labels(marker[1])]
        statement = " ".join(_MARKER.sub("", _BULLET.sub("", line)).split())
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
