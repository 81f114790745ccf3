"""Rows of messages' parts in the index, and the messages that hits lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fencepost.domain.identity import Scope
from fencepost.domain.messages import Conversation, Message
from fencepost.domain.remembered import PartRow
from fencepost.ports.conversations import Page


class PartStore(Protocol):
    """What the index holds of a conversation's messages.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def parts(
        self, scope: Scope, conversation_id: str, *, first: int = 1, last: int | None = None
    ) -> tuple[PartRow, ...]:
        """Return the rows of parts of messages from `first` to `last`, both included, in their order."""
        ...

    def put_parts(self, scope: Scope, conversation: Conversation, rows: Sequence[PartRow]) -> bool:
        """Write rows, all or some in their order; False where the conversation is gone, or another one by now.

        Refused as well are rows of messages that retention has hidden meanwhile: what is removed stays removed.
        """
        ...

    def drop_parts(self, scope: Scope, conversation_id: str, rows: Sequence[PartRow]) -> None:
        """Remove rows."""
        ...


class RememberedConversations(Protocol):
    """Which conversations of an organisation have parts in the index: ids alone, for whoever compares both."""

    def conversations(self, scope: Scope, *, after: str | None, limit: int) -> Page[tuple[str, str]]:
        """List owner and conversation, in a stable order.

        Raises:
            FencepostError: `conversations_unavailable`.
        """
        ...


type PartPlace = tuple[str, int, int]
"""Where a part stands: its conversation, the message's number, and which part of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HitRows:
    """The rows that hits lead to, without those gone.

    Attributes:
        conversations: by id.
        messages: by conversation and number. One that has moved to S3 is not among them; that its conversation says so
            is enough to read it there.
        apart: those of `messages` whose content is too big for a row: it is empty here, and stands in S3.
        parts: without their vectors.
    """

    conversations: Mapping[str, Conversation]
    messages: Mapping[tuple[str, int], Message]
    apart: frozenset[tuple[str, int]]
    parts: Mapping[PartPlace, PartRow]


class MessageHits(Protocol):
    """Messages that hits lead to."""

    def hydrate(self, scope: Scope, wanted: Sequence[PartPlace]) -> HitRows:
        """Return, in one step, what there is of parts, of their messages and of their conversations.

        Raises:
            FencepostError: `conversations_unavailable`.
        """
        ...
