"""The prompt as plain values. Its order is fixed: rules, facts, summary, earlier turns, retrieved context, the message.

The provider's adapter turns it into a request; nothing else may add to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.domain.conversation import Role, Source
from fencepost.domain.messages import LayerUse


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of text. `cached` marks the end of a prefix that the provider should cache."""

    text: str
    cached: bool = False


@dataclass(frozen=True, slots=True)
class PromptTurn:
    """One message to the provider. Roles alternate and the first is the user's."""

    role: Role
    blocks: tuple[Block, ...]


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

    system: tuple[Block, ...]
    turns: tuple[PromptTurn, ...]
    sources: tuple[Source, ...]
    input_tokens: int
    max_output_tokens: int
    layers: tuple[LayerUse, ...] = ()
