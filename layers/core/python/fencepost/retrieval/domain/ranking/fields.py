"""What an index holds of a chunk and of a message: the words it is found by, and the words beside them.

Lexical fields are searched as one, each term's frequency weighted by its field before it saturates (BM25F: Robertson
and Zaragoza, *The Probabilistic Relevance Framework*, 2009). The weights were measured, see docs/retrieval-quality.md.
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
"""How much a term of the context counts against one of the text."""
REACH: Final = 2
"""Turns on each side of a message that belong to its context."""
REPETITIONS: Final[Mapping[int, int]] = {1: 2, 2: 1}
"""How often a turn's words stand in the context, by its distance: with the weight, ½ and ¼ of the message's own."""
SHARES: Final[Mapping[int, float]] = {0: 1.0, 1: 0.5, 2: 0.25}
"""How much a turn's vector counts in the vector of a message, by its distance."""
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_NAME_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Fields:
    """What an entry holds.

    Attributes:
        text: its own words, for the lexical query.
        context: the words around it.
        passage: what is embedded.
    """

    text: str
    context: str
    passage: str


@dataclass(frozen=True, slots=True)
class Said:
    """A message, as far as it is found by it. `speaker` is a name; empty where there is none to ask for."""

    words: str
    day: date
    speaker: str = ""


def message_fields(said: Said, before: Sequence[Said] = (), after: Sequence[Said] = ()) -> Fields:
    """Return the fields of a message between its neighbours, each side in the order of the conversation.

    What was said before and after a message tells what it is about. Its first line is who said it and when.
    """
    context = [_stamped(other) for distance, other in _beside(before, after) for _ in range(REPETITIONS[distance])]
    return Fields(_stamped(said), "\n".join(context), _spoken(said))


def speaker_of(text: str) -> str:
    """Return who said a message, from its field `text`; empty where nobody is named."""
    return text.partition("\n")[0].rpartition(", ")[0]


def blended(own: Vector, before: Sequence[Vector] = (), after: Sequence[Vector] = ()) -> Vector:
    """Return a message's vector in its context: the weighted mean of its own and of its neighbours', of length one.

    Each side is in the order of the conversation. No further text is embedded for it.
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


def _spoken(said: Said) -> str:
    return f"{_name(said)}: {said.words}" if said.speaker else said.words


def _name(said: Said) -> str:
    return " ".join(said.speaker.split())[:_NAME_CHARACTERS]
