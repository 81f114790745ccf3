"""Stores of what people said. Every method takes a `Scope` first: a query outside it cannot be written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fencepost.domain.identity import Scope
from fencepost.domain.jobs import Job, JobRecord, JobState, WorkLease
from fencepost.domain.memory import Fact, FactState, Summary
from fencepost.domain.messages import AnswerContext, Conversation, Message, MessagePointer, Rating
from fencepost.domain.turns import Claim, ClaimRefused, Settlement, SettleRefused, TurnMaterial


class TurnStore(Protocol):
    """What one turn needs. Each method is one step of its five sequential store operations.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def claim(self, scope: Scope, claim: Claim) -> ClaimRefused | None:
        """Take the lease and store the question as pending, in one transaction; say what stood in the way.

        Checked in the transaction: the membership is active and of the scope's version, the conversation is there, free
        and on the claim's site, the message's id is new, its files are there, and no answer was made for its key. The
        files learn which conversation uses them. Repeating a claim whose answer was lost succeeds.
        """
        ...

    def load(self, scope: Scope, conversation_id: str, limit: int) -> TurnMaterial | None:
        """Read, in parallel, what the prompt is made of; None where the conversation is gone."""
        ...

    def settle(self, scope: Scope, settlement: Settlement) -> SettleRefused | None:
        """Store question, answer and context and free the lease, in one transaction; say what stood in the way.

        Checked in the transaction: the lease is still the turn's own, and a member is still one. Settling twice changes
        nothing.
        """
        ...

    def release(self, scope: Scope, conversation_id: str, holder: str, now: datetime) -> None:
        """End the lease early and leave the question pending, for a retry to finish. Does nothing if it is lost."""
        ...

    def park(self, scope: Scope, conversation: Conversation, now: datetime) -> bool:
        """Make a dead turn's question a row of its own and free the lease; False where somebody was faster."""
        ...

    def stored_answer(self, scope: Scope, pointer: MessagePointer, key: str | None = None) -> Message | None:
        """Return the newest complete answer to a question, or the one that was made for a key; None if there is none.

        Args:
            scope: whose.
            pointer: of the question.
            key: a fingerprint, as a claim holds it.
        """
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

    def contexts(self, scope: Scope, question_ids: Sequence[str]) -> Iterator[AnswerContext]:
        """Yield what went into all answers to these questions, in the order of the questions and of the answers."""
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
            facts: at most `fencepost.domain.facts.MAX_WRITTEN`.
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


class JobStore(Protocol):
    """Records of jobs that a client asked for, and leases of the work that follows an answer.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def queue(self, scope: Scope, record: JobRecord) -> None:
        """Store a record; the table's stream brings the job to the queue. Storing it twice changes nothing."""
        ...

    def job(self, scope: Scope, job_id: str) -> JobRecord | None:
        """Return a record."""
        ...

    def advance(
        self, scope: Scope, job_id: str, state: JobState, *, progress: dict[str, int], error: str | None = None
    ) -> bool:
        """Store how far a job has come; False where its record is gone."""
        ...

    def begin(self, scope: Scope, job: Job, lease: WorkLease) -> int | None:
        """Take the lease of one purpose's work on a conversation: however often a job comes, one worker pays for it.

        Returns:
            How far the work had come: the last `seq` that it is through with, 0 at first. None where the conversation
            is not the job's any more.

        Raises:
            FencepostError: `conversation_busy`; another worker is at it, or died at it and its lease has not ended yet.
        """
        ...

    def end(self, scope: Scope, job: Job, lease: WorkLease, through: int) -> None:
        """Give the lease back and note how far the work has come. Does nothing where the lease is lost."""
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
