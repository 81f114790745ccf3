"""Hold the lease of a job's work, and make records of jobs."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import FencepostError
from fencepost.kernel.ids import RANDOM_BITS, uuid7
from fencepost.kernel.ports import Clock
from fencepost.queue.domain import OPERATOR, Job, JobRecord, JobState, Purpose, WorkLease
from fencepost.queue.ports import JobStore

WORK_SECONDS = 150
"""Duration of a lease; longer than the function's timeout."""


@dataclass(slots=True)
class WorkProgress:
    """Progress of one kind of work on a conversation: the last `seq` that it is done for."""

    through: int


def new_lease(now: datetime) -> WorkLease:
    """Return a new lease that begins now."""
    return WorkLease(secrets.token_urlsafe(12), now, now + timedelta(seconds=WORK_SECONDS))


@contextmanager
def working(jobs: JobStore, scope: Scope, job: Job, clock: Clock) -> Iterator[WorkProgress | None]:
    """Hold the lease of a job's work.

    A job that finds the lease taken has to be retried: the holder may have died, or may have read the conversation
    before the change that the job is about. The queue's retries outlast a lease.

    Yields:
        The progress, for the caller to advance; None if the conversation does not exist any more, or has another
        incarnation than the job.

    Raises:
        FencepostError: `conversation_busy`; another worker holds the lease.
    """
    lease = new_lease(clock())
    through = jobs.begin(scope, job, lease)
    if through is None:
        yield None
        return
    progress = WorkProgress(through)
    try:
        yield progress
    finally:
        # A lease that is not released expires, and a failed release is no reason to repeat the work.
        with suppress(FencepostError):
            jobs.end(scope, job, lease, progress.through)


def new_record(
    scope: Scope,
    purpose: Purpose,
    now: datetime,
    *,
    site: str = "",
    conversation: str | None = None,
    incarnation: str | None = None,
    parameters: Mapping[str, str] = MappingProxyType({}),
) -> JobRecord:
    """Return the record of a job that a client asks for. `JobStore.queue` stores it and starts the job.

    The actor of an erasure is the operator: it was authorised by the request, and does not depend on the client's later
    permission.

    Args:
        scope: access that the job needs.
        purpose: kind of the job.
        now: current time.
        site: id of the visitor's site; without it a visitor's job is refused when it runs.
        conversation: id of the conversation, if the job is about one.
        incarnation: incarnation of that conversation.
        parameters: further inputs of the job.
    """
    job_id = uuid7(now, secrets.randbits(RANDOM_BITS))
    job = Job(
        org=scope.org,
        owner=scope.owner,
        actor=OPERATOR if purpose is Purpose.ERASE else scope.actor,
        purpose=purpose,
        permission_version=scope.permission_version,
        created_at=now,
        site=site,
        conversation=conversation,
        incarnation=incarnation,
        record=job_id,
    )
    return JobRecord(
        id=job_id,
        job=job,
        state=JobState.QUEUED,
        created_at=now,
        updated_at=now,
        parameters=dict(parameters),
        progress={},
    )
