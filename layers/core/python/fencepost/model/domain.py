"""Prompts as values, upper bounds of their tokens, and failures of calls.

A prompt's order is fixed: rules, facts, summary, earlier turns, retrieved context, the current message. The provider's
adapter turns a `Prompt` into a request, and adds nothing to it.

Token counts never underestimate. The provider's tokeniser is not public, but a byte-level byte-pair encoding gives each
token at least one byte of UTF-8 (Sennrich et al. 2016, arXiv:1508.07909; Radford et al. 2019 for the byte level), so a
text has at most as many tokens as bytes. A tokeniser may first normalise to NFC or NFKC, which can lengthen a text
(U+FDFA becomes 18 characters), so the longest of the three forms counts. Real counts are three to four times lower in
English. The cap on the bill rests on this bound, so it has to be provable rather than tight; settling returns the
difference (docs/adr/0004).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Usage

LATEST_START_SECONDS = 15.0
"""A turn that has waited longer than this for its lease does not start: too little time is left for the model."""

REQUEST_TOKENS = 64
"""Most tokens that a provider adds to a request, such as start tokens and a preamble."""
TURN_TOKENS = 16
"""Most tokens that a provider adds to a message, such as role markers and separators."""
BLOCK_TOKENS = 8
"""Most tokens that a provider adds to each block of text in the system prompt or a message."""
CHARACTER_TOKENS = 4
"""Most tokens of a character in normalised text: UTF-8 has at most four bytes."""

type LayerName = Literal["rules", "facts", "summary", "history", "memory", "context", "message"]
"""Layer of a prompt. `memory` holds messages of other conversations, and is absent where none were found."""


class Role(StrEnum):
    """Author of a message. Clients may name no other."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class PromptBlock:
    """A block of text. `cached` marks the end of a prefix that the provider should cache."""

    text: str
    cached: bool = False


@dataclass(frozen=True, slots=True)
class PromptTurn:
    """One message to the provider. Roles alternate, beginning with the user's."""

    role: Role
    blocks: tuple[PromptBlock, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A section in the prompt that an answer can cite.

    Attributes:
        id: source id, as fences and citations name it.
        title: title to show.
        url: address to link to; empty if there is none.
        span: for a passage of a document, its place in the document's text, in code points, end exclusive.
    """

    id: str
    title: str
    url: str
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class LayerUse:
    """Tokens of one layer of a prompt, and the ids of the sources in it."""

    layer: LayerName
    tokens: int
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """The content of one call of the provider.

    Attributes:
        system: rules, then (where the whole file fits) the fenced documents, then facts and summary.
        turns: history, then the current message.
        sources: all sources in the prompt that an answer can cite.
        input_tokens: upper bound on the tokens that the provider will count.
        max_output_tokens: the provider's limit on output tokens.
        layers: use of each layer, in order.
    """

    system: tuple[PromptBlock, ...]
    turns: tuple[PromptTurn, ...]
    sources: tuple[Source, ...]
    input_tokens: int
    max_output_tokens: int
    layers: tuple[LayerUse, ...] = ()


def background_prompt(rules: str, texts: Sequence[str], max_output_tokens: int) -> Prompt:
    """Return a prompt without sources, for background calls: rules, and one message of these texts."""
    blocks = tuple(map(PromptBlock, texts))
    text_tokens = sum(count_tokens(text) + BLOCK_TOKENS for text in (rules, *texts))
    return Prompt(
        system=(PromptBlock(rules),),
        turns=(PromptTurn(Role.USER, blocks),),
        sources=(),
        input_tokens=REQUEST_TOKENS + TURN_TOKENS + text_tokens,
        max_output_tokens=max_output_tokens,
    )


def count_tokens(text: str) -> int:
    """Return an upper bound on the tokens of a text, without framing.

    The bounds of parts add up to a bound of the whole if each part begins with an ASCII character, because such a
    character does not compose with the part before it.
    """
    if text.isascii():
        return len(text)
    forms = (text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFKC", text))
    return max(len(form.encode("utf-8", "surrogatepass")) for form in forms)


class ModelError(FencepostError):
    """The provider was called and returned no usable answer.

    Args:
        code: error code for the client.
        usage: the usage that the provider charges, if known; `Usage()` for a refused request. None keeps the whole
            reservation as spent.
        retry_after: whole seconds, if the provider named them.
    """

    def __init__(self, code: ErrorCode, *, usage: Usage | None, retry_after: int | None = None) -> None:
        super().__init__(code, retry_after=retry_after)
        self.usage = usage
