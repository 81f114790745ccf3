"""Questions with their history, as a client sends them, and answers as they leave."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.model.domain.prompt import Role, Source


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
class Answer:
    """What a visitor gets: Markdown, its sources in order of citation, and a signature over the turn chain."""

    response: str
    sources: tuple[Source, ...]
    signature: str
