"""What all work in the background shares: one worker at a time, and a model that is paid from the day's bill."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.domain.errors import FencepostError
from fencepost.domain.identity import Scope
from fencepost.domain.jobs import Job, WorkLease
from fencepost.domain.prompt import Prompt
from fencepost.domain.sites import Site
from fencepost.ports import Clock, JobStore, Keys
from fencepost.services.completion import PaidModel
from fencepost.services.trace import Trace

type Ask = Callable[[Site, Prompt], str]
"""Calls a site's model once and returns what it wrote; raises what stands in the way. `paid` makes one."""

WORK_SECONDS = 150
"""How long a worker holds its lease: longer than the function may run."""


@dataclass(slots=True)
class Progress:
    """How far one kind of work on a conversation has come: the last `seq` that it is through with."""

    through: int


def new_lease(now: datetime) -> WorkLease:
    """Return the lease of a worker who begins now."""
    return WorkLease(secrets.token_urlsafe(12), now, now + timedelta(seconds=WORK_SECONDS))


@contextmanager
def working(jobs: JobStore, scope: Scope, job: Job, clock: Clock) -> Iterator[Progress | None]:
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
    progress = Progress(through)
    try:
        yield progress
    finally:
        # A lease that is not given back ends by itself, and work that is done must not be done again for its sake.
        with suppress(FencepostError):
            jobs.end(scope, job, lease, progress.through)


def paid(model_of: Callable[[Site], PaidModel], keys: Keys) -> Ask:
    """Return what asks a site's model on the bill that answers are on, with the same caps."""

    def ask(site: Site, prompt: Prompt) -> str:
        # Asked for and dropped: without a key the call would fail after its permit was taken.
        keys.provider_key()
        model, trace = model_of(site), Trace()
        reply = model.ask(prompt, trace)
        model.settle(reply, trace)
        return reply.text

    return ask
