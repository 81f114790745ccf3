"""The way from what was stored to the work that follows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from fencepost.identity.domain.scope import Scope
from fencepost.queue.domain import Job, JobRecord, JobState, WorkLease


class JobQueue(Protocol):
    """Where jobs wait. It may deliver one twice and in any order, so whoever runs them must not mind."""

    def send(self, jobs: Sequence[Job]) -> None:
        """Put jobs into the queue, all of them; after an error some may be in it.

        Raises:
            FencepostError: `conversations_unavailable`; the queue does not answer or refused a job.
        """
        ...


class RetryQueue(Protocol):
    """The same queue, as whoever runs its jobs sees it."""

    def retry(self, receipt: str, delay: timedelta) -> None:
        """Let a message that was received come again so much later, in whole seconds, unless it is removed before.

        Args:
            receipt: of this one delivery.
            delay: at most twelve hours.

        Raises:
            FencepostError: `conversations_unavailable`; the queue does not answer, or does not know the receipt.
        """
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
