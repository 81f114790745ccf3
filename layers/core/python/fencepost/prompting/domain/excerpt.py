"""Fenced text for a prompt, with its sources and token count."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.model.domain.prompt import Source
from fencepost.model.domain.token_counts import BLOCK_TOKENS, count_tokens


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One block of a prompt: its text, what an answer may cite of it, and a bound on its tokens, framing included."""

    text: str = ""
    sources: tuple[Source, ...] = ()
    tokens: int = 0


NOTHING = Excerpt()


def block_tokens(text: str) -> int:
    """Return an upper bound on what the text adds to a prompt as a block of its own."""
    return count_tokens(text) + BLOCK_TOKENS
