"""Stores of archives, imports, carried summaries and diagnoses, and the eraser.

All methods raise `FencepostError` with `conversations_unavailable` when a store does not answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol

from fencepost.conversations.domain.archives import ArchiveBlock
from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.identity.domain.scope import Scope
from fencepost.lifecycle.domain.bundle_check import AskedQuestion
from fencepost.lifecycle.domain.diagnosis import Diagnosis, Look
from fencepost.memory.domain.summaries import Summary
from fencepost.queue.domain import Job

MOST_WRITTEN: Final = 50
"""Messages, or pointers of questions, that one transaction stores."""


class ArchiveStore(Protocol):
    """Moves messages from rows to blocks, and removes expired messages."""

    def conversation(self, scope: Scope, conversation_id: str) -> Conversation | None:
        """Return a conversation, including one that has expired and is hidden from other readers."""
        ...

    def rows(self, scope: Scope, conversation_id: str, *, after: int, limit: int) -> tuple[Message, ...]:
        """Return the messages that are stored as rows and have a greater `seq` than `after`, oldest first."""
        ...

    def blocks(self, scope: Scope, conversation_id: str) -> tuple[ArchiveBlock, ...]:
        """Return the blocks of a conversation, oldest first."""
        ...

    def read(self, scope: Scope, block: ArchiveBlock) -> tuple[Message, ...]:
        """Return the messages of a block, checked against the block's digest."""
        ...

    def move(self, scope: Scope, conversation: Conversation, block: ArchiveBlock, messages: Sequence[Message]) -> bool:
        """Store a block's row and remove those of its messages, in one transaction.

        Args:
            scope: the owner's.
            conversation: as it was read. Its incarnation and `archived_through` must be unchanged.
            block: its object is in S3 and was read back.
            messages: as they were read. Their rows must be unchanged.

        Returns:
            False if something has changed since it was read; nothing is written then.
        """
        ...

    def keep_from(self, scope: Scope, conversation: Conversation, seq: int) -> bool:
        """Hide the messages below `seq`, and reset the summary's range; False if the conversation has changed."""
        ...

    def drop_rows(self, scope: Scope, conversation_id: str, messages: Sequence[Message]) -> None:
        """Remove the rows of messages, and the pointers of questions."""
        ...

    def drop_block(self, scope: Scope, conversation_id: str, block: ArchiveBlock) -> None:
        """Remove a block's row, and the ratings that its answers have got since they were archived."""
        ...

    def drop_files(self, scope: Scope, conversation_id: str) -> None:
        """Remove the files of an expired conversation that no existing conversation uses."""
        ...

    def end(self, scope: Scope, conversation: Conversation) -> bool:
        """Remove the last rows of an expired conversation; False if it has changed since it was read."""
        ...


class ImportStore(Protocol):
    """Writes whole conversations. A conversation is invisible until it is complete, and an erasure ends its import."""

    def taken(self, scope: Scope, message_ids: Sequence[str]) -> dict[str, str]:
        """Return, by the ids of those questions that exist, the ids of their conversations."""
        ...

    def begin(self, scope: Scope, conversation_id: str, job: Job, incarnation: str) -> str | None:
        """Mark that a job is writing a conversation.

        The mark of another, unfinished import is replaced, and the rows that it has written are removed.

        Returns:
            The conversation's incarnation: the given one, or in a repeated job the one that its first run has written.
            None if the conversation exists, or was erased after the job was made.
        """
        ...

    def write_messages(
        self, scope: Scope, conversation_id: str, incarnation: str, messages: Sequence[Message], *, keep_days: int = 0
    ) -> bool:
        """Store at most `MOST_WRITTEN` messages; False if the mark is gone. `keep_days`: see `Conversation`."""
        ...

    def write_questions(
        self,
        scope: Scope,
        conversation_id: str,
        incarnation: str,
        questions: Sequence[AskedQuestion],
        *,
        keep_days: int = 0,
    ) -> bool:
        """Store the pointers of at most `MOST_WRITTEN` questions; False if the mark is gone or an id is taken."""
        ...

    def finish(self, scope: Scope, conversation: Conversation) -> bool:
        """Make the conversation visible by replacing the mark with its row; False if the mark is gone."""
        ...


class CarryStore(Protocol):
    """Approves summaries, and begins conversations with them. Each method writes only in its scope's organisation.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def approve(self, scope: Scope, conversation_id: str, summary_id: str) -> bool:
        """Mark a summary as approved; False if the conversation has another summary by now, or none."""
        ...

    def begin(self, scope: Scope, conversation: Conversation, summary: Summary) -> bool:
        """Store a new conversation with its summary; False if the membership has changed since the scope was made."""
        ...


class DiagnosisStore(Protocol):
    """Store of diagnoses and looks. Every method takes a scope of the action `diagnose`.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def open(self, scope: Scope, diagnosis: Diagnosis) -> None:
        """Store a new diagnosis."""
        ...

    def get(self, scope: Scope, diagnosis_id: str) -> Diagnosis | None:
        """Return a diagnosis of the scope's organisation."""
        ...

    def newest(self, scope: Scope, limit: int) -> tuple[Diagnosis, ...]:
        """Return the organisation's diagnoses, newest first."""
        ...

    def look(self, scope: Scope, look: Look) -> bool:
        """Record a look, on condition that the scope's actor opened the diagnosis and it is still open.

        Returns:
            False if it is not: nothing was recorded, and no content may be shown.
        """
        ...

    def looks(self, scope: Scope, diagnosis_id: str, limit: int) -> tuple[Look, ...]:
        """Return the recorded looks of a diagnosis, newest first."""
        ...

    def close(self, scope: Scope, diagnosis: Diagnosis) -> None:
        """Store when a diagnosis was closed. A diagnosis that is closed already keeps its time."""
        ...


class Eraser(Protocol):
    """Removes everything of a conversation or of an owner. A repeated call continues where the last one stopped.

    Files that were attached in a conversation are removed with it, unless another existing conversation uses them.

    Counts are by kind (`ErasedKind`): `conversations`, `messages`, `pointers`, `archives`, `summaries`, `facts`,
    `jobs`, `attachments`, `objects`; where messages are indexed also `vectors`, the index entries, and `parts`, the
    rows of message chunks. All methods raise `FencepostError` with `conversations_unavailable` or `index_unavailable`.
    """

    def forget_conversation(self, scope: Scope, conversation_id: str, now: datetime) -> bool:
        """Make a conversation unreadable at once, and unwritable for everything that still runs.

        Its tombstone is kept for as long as a job may still be under way.

        Returns:
            False if there is no such conversation.
        """
        ...

    def forget_owner(self, scope: Scope, now: datetime) -> dict[str, int]:
        """Remove all conversations, facts, jobs and attachments of an owner, and return their counts.

        Jobs that were made before `now` cannot write any more. Records of erasures are kept as receipts.
        """
        ...

    def sweep(self, scope: Scope, conversation_id: str | None, budget: int) -> dict[str, int]:
        """Remove leftovers: up to `budget` index entries and rows, and objects.

        Args:
            scope: the owner's.
            conversation_id: of an erased conversation; None sweeps the leftovers of an erased owner.
            budget: how many entries and rows to remove at most.

        Returns:
            Counts of removed leftovers; empty if no more can be found yet.
        """
        ...

    def leftovers(self, scope: Scope, conversation_id: str | None) -> dict[str, int]:
        """Count the leftovers by kind, by a new scan. The verifier of erasures."""
        ...
