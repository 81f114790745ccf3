"""What all work in the background shares: one worker at a time, and a model that is paid from the day's bill."""

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
"""How long a worker holds its lease: longer than the function may run."""


@dataclass(slots=True)
class WorkProgress:
    """How far one kind of work on a conversation has come: the last `seq` that it is through with."""

    through: int


def new_lease(now: datetime) -> WorkLease:
    """Return the lease of a worker who begins now."""
    return WorkLease(secrets.token_urlsafe(12), now, now + timedelta(seconds=WORK_SECONDS))


@contextmanager
def working(jobs: JobStore, scope: Scope, job: Job, clock: Clock) -> Iterator[WorkProgress | None]:
    """Hold the lease of a job's work meanwhile.

    Nobody can tell a worker that died from one that is busy, and what either was asked for may have come too late for
    what it read. So the job comes again: the queue's retries outlast a lease.

    Yields:
        How far the work has come, to be moved on; None where the conversation is not the job's any more.

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
        # A lease that is not given back ends by itself, and work that is done must not be done again for its sake.
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
    """Return the record of a job that a client asks for; `JobStore.queue` is what starts it.

    An erasure's actor is the operator: it was allowed when it was asked for, and goes on whatever becomes of them.

    Args:
        scope: of what the job will do.
        site: id of the visitor's site; without it a visitor's job is refused as it runs.
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
