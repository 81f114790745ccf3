"""Stores of facts, summaries, titles and message chunks, and the reader of message hits."""

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
    """Store of the rows of message chunks.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def chunks(
        self, scope: Scope, conversation_id: str, *, first: int = 1, last: int | None = None
    ) -> tuple[MessageChunkRow, ...]:
        """Return the chunk rows of the messages from `first` to `last`, both included, in their order."""
        ...

    def put_chunks(self, scope: Scope, conversation: Conversation, rows: Sequence[MessageChunkRow]) -> bool:
        """Write rows, all of them or the first ones.

        Returns:
            False if the conversation was erased or replaced by another one of its id, or if retention has hidden one
            of the messages: rows that were removed must not come back.
        """
        ...

    def drop_chunks(self, scope: Scope, conversation_id: str, rows: Sequence[MessageChunkRow]) -> None:
        """Remove rows."""
        ...


class RememberedConversations(Protocol):
    """Lists the conversations of an organisation that have chunks in the index: ids only."""

    def conversations(self, scope: Scope, *, after: str | None, limit: int) -> Page[tuple[str, str]]:
        """Return pairs of owner and conversation id, in a stable order.

        Raises:
            FencepostError: `conversations_unavailable`.
        """
        ...


type MessageChunkPlace = tuple[str, int, int]
"""Id of a conversation, number of a message in it, and number of a chunk in the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HitRows:
    """The rows behind message hits. Rows that do not exist are left out.

    Attributes:
        conversations: by id.
        messages: by conversation id and number. Archived messages are not among them: they are read from S3, by the
            conversation's `archived_through`.
        apart: keys of those `messages` whose content is in S3, being too big for a row. Their content is empty here.
        chunks: chunk rows, without their vectors.
    """

    conversations: Mapping[str, Conversation]
    messages: Mapping[tuple[str, int], Message]
    apart: frozenset[tuple[str, int]]
    chunks: Mapping[MessageChunkPlace, MessageChunkRow]


class MessageHits(Protocol):
    """Reads the rows behind message hits."""

    def hydrate(self, scope: Scope, wanted: Sequence[MessageChunkPlace]) -> HitRows:
        """Return the rows of chunks, of their messages and of their conversations, in one store operation.

        Raises:
            FencepostError: `conversations_unavailable`.
        """
        ...


class MemoryStore(Protocol):
    """Store of facts, summaries and titles.

    Jobs pass themselves or their time of creation, so that they cannot restore content erased since then.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer, or when other
    writers have changed the same rows too often.
    """

    def facts(self, scope: Scope, *states: FactState) -> tuple[Fact, ...]:
        """Return the owner's facts in these states, oldest first."""
        ...

    def write_facts(self, scope: Scope, facts: Sequence[Fact], *, made_at: datetime | None = None) -> bool:
        """Store facts under their ids, all or none. A fact whose state has changed is moved.

        Args:
            scope: the owner's.
            facts: at most `fencepost.memory.domain.facts.MAX_WRITTEN`.
            made_at: when the writing job was made; None outside jobs.

        Returns:
            False if the owner was erased after `made_at`.
        """
        ...

    def change_facts(
        self, scope: Scope, change: Callable[[Sequence[Fact]], Sequence[Fact]], *, job: Job | None = None
    ) -> bool:
        """Apply a change to the pinned and proposed facts, and store the result as `write_facts` does.

        `change` is called again whenever another writer has changed facts in the meantime, so its decision is based on
        the facts as they are stored. What it raises is raised, and nothing is stored.

        Args:
            scope: the owner's.
            change: takes the current facts and returns those that are new or different.
            job: the writing job; None outside jobs.

        Returns:
            False if the owner or the job's conversation was erased after the job was made.
        """
        ...

    def delete_fact(self, scope: Scope, fact_id: str) -> bool:
        """Remove a fact in any state; False if there is none."""
        ...

    def summary(self, scope: Scope, conversation_id: str) -> Summary | None:
        """Return the rolling summary."""
        ...

    def write_summary(self, scope: Scope, conversation_id: str, incarnation: str, summary: Summary) -> bool:
        """Replace the summary; False if the conversation was erased, or replaced by another one of its id."""
        ...

    def drop_summary(self, scope: Scope, conversation_id: str, remaining: Summary | None = None) -> None:
        """Remove the summary, so that the next job makes a new one.

        Args:
            scope: the owner's.
            conversation_id: id of the conversation.
            remaining: the part of the summary, under the same id, that replaces it in the same write. Nothing is done
                if the stored summary has another id by now, or the conversation was erased.
        """
        ...

    def name_conversation(self, scope: Scope, conversation_id: str, incarnation: str, title: str) -> bool:
        """Set the title of a conversation without one.

        Returns:
            False if it has a title, was erased, or was replaced by another one of its id.
        """
        ...
