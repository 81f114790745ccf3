"""Stores of archives, imports, carried summaries, diagnoses and erasures.

Errors are those of `fencepost.turns.ports.TurnStore`.
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
"""Messages, or what points to questions, that one transaction stores."""


class ArchiveStore(Protocol):
    """Moves messages from rows to blocks, and drops what retention does not keep."""

    def conversation(self, scope: Scope, conversation_id: str) -> Conversation | None:
        """Return the row, also where it is too old for anybody else to see it."""
        ...

    def rows(self, scope: Scope, conversation_id: str, *, after: int, limit: int) -> tuple[Message, ...]:
        """Return the messages that are rows, oldest first, after a `seq`."""
        ...

    def blocks(self, scope: Scope, conversation_id: str) -> tuple[ArchiveBlock, ...]:
        """Return the blocks, oldest first."""
        ...

    def read(self, scope: Scope, block: ArchiveBlock) -> tuple[Message, ...]:
        """Return a block's messages, checked."""
        ...

    def move(self, scope: Scope, conversation: Conversation, block: ArchiveBlock, messages: Sequence[Message]) -> bool:
        """Store a block's row and remove those of its messages, in one transaction.

        Args:
            conversation: as it was read. It must still be this one, and archived as far.
            block: its object is in S3 and was read back.
            messages: as they were read. Their rows must be unchanged.

        Returns:
            False where something was not as it was read: nothing is changed.
        """
        ...

    def keep_from(self, scope: Scope, conversation: Conversation, seq: int) -> bool:
        """Say that what is below `seq` is not shown any more, and no summary covers it; False where it is gone."""
        ...

    def drop_rows(self, scope: Scope, conversation_id: str, messages: Sequence[Message]) -> None:
        """Remove rows and what points to them."""
        ...

    def drop_block(self, scope: Scope, conversation_id: str, block: ArchiveBlock) -> None:
        """Remove a block's row, and the ratings that its answers got since they moved."""
        ...

    def drop_files(self, scope: Scope, conversation_id: str) -> None:
        """Remove the files that were attached in a conversation that is over, and in no other that is there."""
        ...

    def end(self, scope: Scope, conversation: Conversation) -> bool:
        """Remove the last rows of a conversation that is over; False where it is not as it was read any more."""
        ...


class ImportStore(Protocol):
    """Writes whole conversations. Nobody sees one before it is complete, and an erasure ends its import."""

    def taken(self, scope: Scope, message_ids: Sequence[str]) -> dict[str, str]:
        """Return, for those of the questions' ids that are taken, the conversation that each belongs to."""
        ...

    def begin(self, scope: Scope, conversation_id: str, job: Job, incarnation: str) -> str | None:
        """Mark that a job is writing a conversation, and return the incarnation that it writes.

        A job that is repeated gets the one it began with. What another one left unfinished is removed, and is its own
        no more.

        Returns:
            None where the conversation is there, or was erased after the job was made.
        """
        ...

    def write_messages(
        self, scope: Scope, conversation_id: str, incarnation: str, messages: Sequence[Message], *, keep_days: int = 0
    ) -> bool:
        """Store at most `MOST_WRITTEN` messages; False where the mark is gone. `keep_days`: see `Conversation`."""
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
        """Store what points to at most `MOST_WRITTEN` questions; False where the mark is gone or an id is taken."""
        ...

    def finish(self, scope: Scope, conversation: Conversation) -> bool:
        """Make the conversation visible in the place of its mark; False where that is gone."""
        ...


class CarryStore(Protocol):
    """Approves summaries, and begins conversations with them. Each method touches its own scope's organisation alone.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def approve(self, scope: Scope, conversation_id: str, summary_id: str) -> bool:
        """Mark a summary as approved; False where the conversation has another one by now, or none."""
        ...

    def begin(self, scope: Scope, conversation: Conversation, summary: Summary) -> bool:
        """Store a new conversation and its summary together; False where the permission is not the scope's any more."""
        ...


class DiagnosisStore(Protocol):
    """Records of diagnoses. Every method asks for a scope of the action `diagnose`.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def open(self, scope: Scope, diagnosis: Diagnosis) -> None:
        """Store a new record."""
        ...

    def get(self, scope: Scope, diagnosis_id: str) -> Diagnosis | None:
        """Return a record of the scope's organisation."""
        ...

    def newest(self, scope: Scope, limit: int) -> tuple[Diagnosis, ...]:
        """Return the organisation's records, the newest first."""
        ...

    def look(self, scope: Scope, look: Look) -> bool:
        """Record a look, on condition that the diagnosis is open to the scope's actor at that moment.

        Returns:
            False where it is not: nothing was recorded, and nothing may be shown.
        """
        ...

    def looks(self, scope: Scope, diagnosis_id: str, limit: int) -> tuple[Look, ...]:
        """Return the recorded looks, the newest first."""
        ...

    def close(self, scope: Scope, diagnosis: Diagnosis) -> None:
        """Store when a diagnosis was ended. One that was ended before keeps its time."""
        ...


class Eraser(Protocol):
    """Removes everything of a conversation or of an owner. Calling it again goes on where it stopped.

    Files that were attached in a conversation go with it, unless another one that is there uses them.

    Counts are by kind: `conversations`, `messages`, `pointers`, `archives`, `summaries`, `facts`, `jobs`,
    `attachments`, `objects`; of messages that are in an index also `vectors`, the entries there, and `parts`, the rows
    that know them. All methods raise `FencepostError` with `conversations_unavailable`, or `index_unavailable`.
    """

    def forget_conversation(self, scope: Scope, conversation_id: str, now: datetime) -> bool:
        """Make a conversation unreadable at once, and unwritable for all that still runs; False where there is none.

        Its tombstone stays for as long as a job could still be under way.
        """
        ...

    def forget_owner(self, scope: Scope, now: datetime) -> dict[str, int]:
        """Remove all conversations, facts, jobs and attachments of the owner, and count them.

        Jobs that were made before `now` cannot write any more. Records of erasures stay: they are the receipts.
        """
        ...

    def sweep(self, scope: Scope, conversation_id: str | None, budget: int) -> dict[str, int]:
        """Remove up to `budget` entries and rows of what was forgotten, and its objects.

        An empty result: nothing is left that can be found by now.
        """
        ...

    def leftovers(self, scope: Scope, conversation_id: str | None) -> dict[str, int]:
        """Count what is left, by kind, by looking anew: the verifier."""
        ...
