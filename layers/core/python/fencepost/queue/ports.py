"""Ports of the job queue, and of job records and work leases."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from fencepost.identity.domain.scope import Scope
from fencepost.queue.domain import Job, JobRecord, JobState, WorkLease


class JobQueue(Protocol):
    """Queue of jobs. It may deliver a job twice and in any order, so jobs must be idempotent."""

    def send(self, jobs: Sequence[Job]) -> None:
        """Send jobs. After an error, some of them may have been sent.

        Raises:
            FencepostError: `conversations_unavailable`; the queue does not answer or rejected a job.
        """
        ...


class RetryQueue(Protocol):
    """Delays of messages that the consumer of the job queue has received."""

    def retry(self, receipt: str, delay: timedelta) -> None:
        """Deliver a received message again after a delay, unless it is deleted before.

        Args:
            receipt: receipt handle of the delivery.
            delay: rounded down to whole seconds; at most twelve hours.

        Raises:
            FencepostError: `conversations_unavailable`; the queue does not answer, or the receipt is unknown.
        """
        ...


class JobStore(Protocol):
    """Stores records of jobs that clients asked for, and leases of the work that follows an answer.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def queue(self, scope: Scope, record: JobRecord) -> None:
        """Store a record, which queues its job by way of the table's stream. A record that exists is left unchanged."""
        ...

    def job(self, scope: Scope, job_id: str) -> JobRecord | None:
        """Return a record; None if there is none."""
        ...

    def advance(
        self, scope: Scope, job_id: str, state: JobState, *, progress: dict[str, int], error: str | None = None
    ) -> bool:
        """Store state and progress of a job; return False if its record does not exist."""
        ...

    def begin(self, scope: Scope, job: Job, lease: WorkLease) -> int | None:
        """Acquire the lease of one purpose's work on a conversation, so that repeated jobs are paid for once.

        Returns:
            The last `seq` that the work is done for, 0 at first. None if the conversation does not exist any more, or
            has another incarnation than the job.

        Raises:
            FencepostError: `conversation_busy`; another worker holds the lease, or died and its lease has not expired.
        """
        ...

    def end(self, scope: Scope, job: Job, lease: WorkLease, through: int) -> None:
        """Release the lease and store the last `seq` that the work is done for. Does nothing if the lease was lost."""
        ...
