"""Turns of a conversation, as a client sends them and as an answer leaves."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MAX_MESSAGE_CHARACTERS = 4_000
"""Unicode code points of a message, counted after trimming."""
MAX_HISTORY_ENTRIES = 50
MAX_HISTORY_CHARACTERS = 8_192
"""Unicode code points of one history entry, but for an answer that bears our signature."""
MAX_SIGNED_CHARACTERS = 131_072
"""Unicode code points of a signed answer: 32,000 tokens, the most that can be set, make four characters each."""


class Role(StrEnum):
    """Who speaks. The client may name no other."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Turn:
    """One entry of a history. `signature` is what we returned with an assistant turn, if the client kept it."""

    role: Role
    content: str
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A validated request: the message, trimmed, and what was said before, oldest first."""

    message: str
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A section that stood in the prompt and that the answer cites.

    Attributes:
        span: of a passage of a document, where it stands in its text, in code points, end exclusive.
    """

    id: str
    title: str
    url: str
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a visitor gets: Markdown, its sources in order of citation, and a signature over the turn chain."""

    response: str
    sources: tuple[Source, ...]
    signature: str
