"""The indexed fields of messages, their context vectors, and the weights of lexical fields.

Both lexical fields are searched as one: term frequencies are weighted by field before they saturate (BM25F: Robertson
and Zaragoza, *The Probabilistic Relevance Framework*, 2009). docs/retrieval-quality.md has the measured weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from fencepost.retrieval.domain.search import EntryKind, Vector

TEXT_WEIGHT: Final = 1.0
CONTEXT_WEIGHTS: Final[Mapping[EntryKind, float]] = {"document": 1.0, "message": 0.25}
"""Weight of a context term relative to a text term."""
REACH: Final = 2
"""Messages on each side of a message that belong to its context."""
REPETITIONS: Final[Mapping[int, int]] = {1: 2, 2: 1}
"""Repetitions of a neighbour's words in the context, by distance: weighted, ½ and ¼ of the message's own words."""
SHARES: Final[Mapping[int, float]] = {0: 1.0, 1: 0.5, 2: 0.25}
"""Weight of a neighbour's vector in a message's vector, by distance."""
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_NAME_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of an index entry.

    Attributes:
        text: the chunk's words, for the lexical query.
        context: the words around the chunk.
        passage: the text that is embedded.
    """

    text: str
    context: str
    passage: str


@dataclass(frozen=True, slots=True)
class Said:
    """The searchable part of a message. `speaker` is a name, or empty."""

    words: str
    day: date
    speaker: str = ""


def message_fields(said: Said, before: Sequence[Said] = (), after: Sequence[Said] = ()) -> Fields:
    """Return the index fields of a message, with its neighbours as context.

    The first line of `text` is the speaker and the day (`speaker_of`).

    Args:
        said: the message.
        before: the messages before it, in the order of the conversation.
        after: the messages after it, in the order of the conversation.
    """
    context = [_stamped(other) for distance, other in _beside(before, after) for _ in range(REPETITIONS[distance])]
    passage = f"{_name(said)}: {said.words}" if said.speaker else said.words
    return Fields(_stamped(said), "\n".join(context), passage)


def speaker_of(text: str) -> str:
    """Return the speaker from a message's field `text`; empty if it names none."""
    return text.partition("\n")[0].rpartition(", ")[0]


def blended(own: Vector, before: Sequence[Vector] = (), after: Sequence[Vector] = ()) -> Vector:
    """Return a message's vector in context: the weighted mean of its own and its neighbours' vectors, of length one.

    `before` and `after` are in the order of the conversation. No further text is embedded.
    """
    weighted = [(SHARES[0], own), *((SHARES[distance], vector) for distance, vector in _beside(before, after))]
    total = [sum(share * vector[n] for share, vector in weighted) for n in range(len(own))]
    length = math.hypot(*total)
    return tuple(value / length for value in total) if length else own


def _beside[T](before: Sequence[T], after: Sequence[T]) -> Iterator[tuple[int, T]]:
    """Yield the neighbours within reach, with their distances."""
    for side in (before[::-1], after):
        yield from enumerate(side[:REACH], start=1)


def _stamped(said: Said) -> str:
    day = f"{said.day.day} {_MONTHS[said.day.month - 1]} {said.day.year}"
    return f"{', '.join(filter(None, (_name(said), day)))}\n{said.words}"


def _name(said: Said) -> str:
    return " ".join(said.speaker.split())[:_NAME_CHARACTERS]
