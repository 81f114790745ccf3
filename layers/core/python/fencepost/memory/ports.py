"""Rows of messages' parts in the index, and the messages that hits lead to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import Fact, FactState
from fencepost.kernel.paging import Page
from fencepost.memory.domain.chunk_rows import MessageChunkRow
from fencepost.memory.domain.summaries import Summary
from fencepost.queue.domain import Job


class MessageChunkStore(Protocol):
    """What the index holds of a conversation's messages.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def parts(
        self, scope: Scope, conversation_id: str, *, first: int = 1, last: int | None = None
    ) -> tuple[MessageChunkRow, ...]:
        """Return the rows of parts of messages from `first` to `last`, both included, in their order."""
        ...

    def put_parts(self, scope: Scope, conversation: Conversation, rows: Sequence[MessageChunkRow]) -> bool:
        """Write rows, all or some in their order; False where the conversation is gone, or another one by now.

        Refused as well are rows of messages that retention has hidden meanwhile: what is removed stays removed.
        """
        ...

    def drop_parts(self, scope: Scope, conversation_id: str, rows: Sequence[MessageChunkRow]) -> None:
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


type MessageChunkPlace = tuple[str, int, int]
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
    parts: Mapping[MessageChunkPlace, MessageChunkRow]


class MessageHits(Protocol):
    """Messages that hits lead to."""

    def hydrate(self, scope: Scope, wanted: Sequence[MessageChunkPlace]) -> HitRows:
        """Return, in one step, what there is of parts, of their messages and of their conversations.

        Raises:
            FencepostError: `conversations_unavailable`.
        """
        ...


class MemoryStore(Protocol):
    """Facts, summaries and titles. Jobs that write name what they were made for: what is erased stays so.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer, or when other
    writers came in between too often.
    """

    def facts(self, scope: Scope, *states: FactState) -> tuple[Fact, ...]:
        """Return the owner's facts in these states, oldest first."""
        ...

    def write_facts(self, scope: Scope, facts: Sequence[Fact], *, made_at: datetime | None = None) -> bool:
        """Store facts under their ids, all or none; a fact that changes its state moves.

        Args:
            facts: at most `fencepost.memory.domain.facts.MAX_WRITTEN`.
            made_at: when the job that writes was made, where one does.

        Returns:
            False where the owner was erased after `made_at`.
        """
        ...

    def change_facts(
        self, scope: Scope, change: Callable[[Sequence[Fact]], Sequence[Fact]], *, job: Job | None = None
    ) -> bool:
        """Store what `change` makes of the facts that are pinned or proposed, as `write_facts` does.

        It is asked again whenever another writer came in between, so what it decides holds for what is stored. What it
        raises is raised, and nothing is stored.

        Args:
            change: from the facts as they are to those that are new or different.
            job: the one that writes, where one does.

        Returns:
            False where the owner, or the job's conversation, was erased after the job was made.
        """
        ...

    def delete_fact(self, scope: Scope, fact_id: str) -> bool:
        """Remove a fact, whatever its state; False where there is none."""
        ...

    def summary(self, scope: Scope, conversation_id: str) -> Summary | None:
        """Return the rolling summary."""
        ...

    def write_summary(self, scope: Scope, conversation_id: str, incarnation: str, summary: Summary) -> bool:
        """Store a summary in place of the one before; False where the conversation is another one by now, or gone."""
        ...

    def drop_summary(self, scope: Scope, conversation_id: str, remaining: Summary | None = None) -> None:
        """Remove the summary, so that the next job makes it anew.

        Args:
            scope: the owner's.
            conversation_id: whose summary it is.
            remaining: the part of it, under the same id, that takes its place in the same write. Where another summary
                is there by now, or the conversation is gone, nothing is done.
        """
        ...

    def name_conversation(self, scope: Scope, conversation_id: str, incarnation: str, title: str) -> bool:
        """Set the title of a conversation that has none; False where it has one, is another one by now, or gone."""
        ...
