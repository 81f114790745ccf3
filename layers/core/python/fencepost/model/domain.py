"""The prompt as plain values. Its order is fixed: rules, facts, summary, earlier turns, retrieved context, the message.

The provider's adapter turns it into a request; nothing else may add to it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Usage


@dataclass(frozen=True, slots=True)
class PromptBlock:
    """A piece of text. `cached` marks the end of a prefix that the provider should cache."""

    text: str
    cached: bool = False


@dataclass(frozen=True, slots=True)
class PromptTurn:
    """One message to the provider. Roles alternate and the first is the user's."""

    role: Role
    blocks: tuple[PromptBlock, ...]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One provider call, complete.

    Attributes:
        system: rules first, then (where the whole file fits) the fenced documents, then facts and summary.
        turns: history, then the current message, last.
        sources: everything in the prompt that an answer can cite.
        input_tokens: an upper bound on what the provider will count.
        max_output_tokens: where the provider stops.
        layers: what each of the six layers took, in their order.
    """

    system: tuple[PromptBlock, ...]
    turns: tuple[PromptTurn, ...]
    sources: tuple[Source, ...]
    input_tokens: int
    max_output_tokens: int
    layers: tuple[LayerUse, ...] = ()


def background_prompt(rules: str, texts: Sequence[str], max_output_tokens: int) -> Prompt:
    """Return a call that is made for no answer: rules, and one turn of these texts, of which nothing can be cited."""
    blocks = tuple(map(PromptBlock, texts))
    text_tokens = sum(count_tokens(text) + BLOCK_TOKENS for text in (rules, *texts))
    return Prompt(
        system=(PromptBlock(rules),),
        turns=(PromptTurn(Role.USER, blocks),),
        sources=(),
        input_tokens=REQUEST_TOKENS + TURN_TOKENS + text_tokens,
        max_output_tokens=max_output_tokens,
    )


type LayerName = Literal["rules", "facts", "summary", "history", "memory", "context", "message"]
"""`memory` is what was said in other conversations; it is there where something of it was found."""


@dataclass(frozen=True, slots=True)
class LayerUse:
    """What one layer of a prompt took, and the ids of all that stood in it."""

    layer: LayerName
    tokens: int
    sources: tuple[str, ...] = ()


class Role(StrEnum):
    """Who speaks. The client may name no other."""

    USER = "user"
    ASSISTANT = "assistant"


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


REQUEST_TOKENS = 64
"""What a provider may add around a request: start tokens, a preamble."""
TURN_TOKENS = 16
"""What it may add around a message: role markers and separators."""
BLOCK_TOKENS = 8
"""What it may add around each block of text inside the system prompt or a message."""

CHARACTER_TOKENS = 4
"""The most that a character counts in a text that is normalised: UTF-8 has no longer ones."""


def count_tokens(text: str) -> int:
    """Return an upper bound on the tokens of `text`, without framing.

    Bounds of parts add up to a bound of the whole where each part begins with an ASCII character: none of them
    composes with what stands before it.
    """
    if text.isascii():
        return len(text)
    forms = (text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFKC", text))
    return max(len(form.encode("utf-8", "surrogatepass")) for form in forms)


LATEST_START_SECONDS = 15.0
"""A turn that waited longer than this for its lease is not begun: too little time is left for the model's call."""


class ModelError(FencepostError):
    """The provider was called and gave no usable answer.

    Args:
        code: what the client is told.
        usage: what the provider charges, where that is known (`Usage()` for a request it turned away);
            None keeps the whole reservation as spent.
        retry_after: whole seconds, where the provider named them.
    """

    def __init__(self, code: ErrorCode, *, usage: Usage | None, retry_after: int | None = None) -> None:
        super().__init__(code, retry_after=retry_after)
        self.usage = usage
