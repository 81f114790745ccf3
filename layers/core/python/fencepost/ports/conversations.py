"""Stores of what people said. Every method takes a `Scope` first: a query outside it cannot be written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fencepost.domain.identity import Scope
from fencepost.domain.jobs import JobRecord, JobState
from fencepost.domain.memory import Fact, FactState, Summary
from fencepost.domain.messages import AnswerContext, Conversation, Message, MessagePointer, Rating
from fencepost.domain.turns import Claim, ClaimRefused, Settlement, TurnMaterial


class TurnStore(Protocol):
    """What one turn needs. Each method is one step of its five sequential store operations.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def claim(self, scope: Scope, claim: Claim) -> ClaimRefused | None:
        """Take the lease and store the question as pending, in one transaction; say what stood in the way.

        Checked in the transaction: the membership is active and of the scope's version, the conversation is there and
        free, the message's id is new. Repeating a claim whose answer was lost succeeds.
        """
        ...

    def load(self, scope: Scope, conversation_id: str, limit: int) -> TurnMaterial | None:
        """Read, in parallel, what the prompt is made of; None where the conversation is gone."""
        ...

    def settle(self, scope: Scope, settlement: Settlement) -> bool:
        """Store question, answer and context and free the lease, in one transaction. Settling twice changes nothing.

        Returns:
            False where the lease is lost or the conversation erased: nothing was stored.
        """
        ...

    def release(self, scope: Scope, conversation_id: str, holder: str, now: datetime) -> None:
        """End the lease early and leave the question pending, for a retry to finish. Does nothing if it is lost."""
        ...

    def park(self, scope: Scope, conversation: Conversation, now: datetime) -> bool:
        """Make a dead turn's question a row of its own and free the lease; False where somebody was faster."""
        ...

    def stored_answer(self, scope: Scope, pointer: MessagePointer) -> Message | None:
        """Return the newest complete answer to a question, or None while there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Page[Item]:
    """A part of a list. `next_key` is where the next one begins; None at the end."""

    items: tuple[Item, ...]
    next_key: str | None = None


class ConversationStore(Protocol):
    """Reading and changing conversations outside a turn. Errors are those of `TurnStore`."""

    def get(self, scope: Scope, conversation_id: str) -> Conversation | None:
        """Return the row."""
        ...

    def newest(self, scope: Scope, *, after: str | None, limit: int, title_contains: str = "") -> Page[Conversation]:
        """Return conversations, the last changed first. `title_contains` compares case-folded titles."""
        ...

    def rename(self, scope: Scope, conversation_id: str, title: str, now: datetime) -> Conversation | None:
        """Set the title; None where there is no such conversation."""
        ...

    def messages(
        self, scope: Scope, conversation_id: str, *, after: int | None, limit: int, newest_first: bool
    ) -> Page[Message]:
        """Return messages in either direction from a `seq` that is left out itself, archived ones included.

        The open turn's question stands in it as `pending`.
        """
        ...

    def pointer(self, scope: Scope, message_id: str) -> MessagePointer | None:
        """Find a question by its id, or an answer by its own; both lead to the question."""
        ...

    def rate(self, scope: Scope, pointer: MessagePointer, answer_id: str | None, rating: Rating | None) -> bool:
        """Store what the owner thinks of an answer, the newest one where no id is given; False where there is none."""
        ...

    def context(self, scope: Scope, pointer: MessagePointer, answer_id: str | None) -> AnswerContext | None:
        """Return what went into an answer, the newest one where no id is given."""
        ...


class MemoryStore(Protocol):
    """Facts and summaries. Jobs that write name the incarnation that they were made for: what is erased stays so."""

    def facts(self, scope: Scope, *states: FactState) -> tuple[Fact, ...]:
        """Return the owner's facts in these states, oldest first."""
        ...

    def write_facts(self, scope: Scope, facts: Sequence[Fact], *, made_at: datetime | None = None) -> bool:
        """Store facts under their ids, all or none.

        Args:
            facts: at most 100.
            made_at: when the job that writes was made, where one does.

        Returns:
            False where the owner was erased after `made_at`.
        """
        ...

    def summary(self, scope: Scope, conversation_id: str) -> Summary | None:
        """Return the rolling summary."""
        ...

    def write_summary(self, scope: Scope, conversation_id: str, incarnation: str, summary: Summary) -> bool:
        """Store a summary in place of the one before; False where the conversation is another one by now, or gone."""
        ...

    def drop_summary(self, scope: Scope, conversation_id: str) -> None:
        """Remove the summary, so that the next job makes it anew."""
        ...


class JobStore(Protocol):
    """Records of jobs that a client asked for."""

    def queue(self, scope: Scope, record: JobRecord) -> None:
        """Store a record; the table's stream brings the job to the queue."""
        ...

    def job(self, scope: Scope, job_id: str) -> JobRecord | None:
        """Return a record."""
        ...

    def advance(
        self, scope: Scope, job_id: str, state: JobState, *, progress: dict[str, int], error: str | None = None
    ) -> bool:
        """Store how far a job has come; False where its record is gone."""
        ...


class BlobStore(Protocol):
    """Objects in S3 under the scope's own prefix: big answers, archived blocks, bundles, attachments."""

    def put(self, scope: Scope, name: str, content: bytes, content_type: str) -> None:
        """Store an object. Its SHA-256 goes along and is compared on reading."""
        ...

    def get(self, scope: Scope, name: str) -> bytes | None:
        """Return an object, or None where there is none.

        Raises:
            FencepostError: `conversations_unavailable`; it cannot be read, or is not what was stored.
        """
        ...

    def delete(self, scope: Scope, prefix: str) -> int:
        """Remove all versions of all objects whose names begin so, and return how many objects there were."""
        ...

    def names(self, scope: Scope, prefix: str) -> Iterator[str]:
        """Yield the names of objects that begin so."""
        ...

    def link(self, scope: Scope, name: str, seconds: int) -> str:
        """Return a presigned address from which anybody can read the object for so long."""
        ...

    def upload_form(self, scope: Scope, name: str, content_type: str, max_bytes: int, seconds: int) -> UploadForm:
        """Return a presigned POST for one object of one type and bounded size."""
        ...


@dataclass(frozen=True, slots=True)
class UploadForm:
    """Where and with which form fields a browser uploads a file (S3 POST policy)."""

    url: str
    fields: dict[str, str]


class Eraser(Protocol):
    """Removes everything of a conversation or of an owner. Calling it again goes on where it stopped."""

    def forget_conversation(self, scope: Scope, conversation_id: str, now: datetime) -> bool:
        """Make a conversation unreadable at once, and unwritable for all that still runs; False where there is none."""
        ...

    def forget_owner(self, scope: Scope, now: datetime) -> None:
        """The same for everything of the owner: rows, facts, jobs and conversations that were there before `now`."""
        ...

    def sweep(self, scope: Scope, conversation_id: str | None, budget: int) -> dict[str, int]:
        """Remove up to `budget` rows and objects of what was forgotten. An empty result says that nothing is left."""
        ...

    def leftovers(self, scope: Scope, conversation_id: str | None) -> dict[str, int]:
        """Count what is left, by kind, by looking anew: the verifier."""
        ...
