"""Go round all organisations and compare what the index holds with what the tables say, a slice at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from fencepost.identity.domain.scope import Action, Operator, Resource, authorize
from fencepost.jobs.domain.index_diff import DiffProgress
from fencepost.jobs.ports import OrganisationRegistry, ReconcileStore
from fencepost.jobs.service.index_diff import DiffPage, DiffSources, IndexDiff
from fencepost.kernel.ports import Clock
from fencepost.queue.domain import Job
from fencepost.queue.ports import JobQueue
from fencepost.retrieval.service.index_errors import index_errors

READS: Final = 2_000
"""Of index and tables in one run, after which it ends with its page."""
REPAIRS: Final = 100
"""Jobs of one run, after which it ends: what is wrong with much is repaired at the pace of the queue."""
SLICE: Final = timedelta(seconds=40)
"""Of one run: less than the function has."""


@dataclass(slots=True)
class _Run:
    """What one run has used, and which repairs it has asked for."""

    until: datetime
    reads: int = 0
    asked: set[tuple[str, str, str, str | None, str | None]] = field(default_factory=set)

    def is_over(self, now: datetime) -> bool:
        """Tell whether it has used what it may."""
        return self.reads >= READS or len(self.asked) >= REPAIRS or now >= self.until

    def new(self, jobs: tuple[Job, ...]) -> list[Job]:
        """Return the jobs that it has not asked for yet."""
        named = {(job.org, job.purpose, job.owner, job.document, job.conversation): job for job in jobs}
        fresh = [job for name, job in named.items() if name not in self.asked]
        self.asked.update(named)
        return fresh


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciler:
    """Each run goes on where those before it ended, wherever that was. Two at once do no harm.

    An organisation's turn is over before it begins: one that cannot be looked at holds up no other, and one that is too
    big for a run goes on with its next turn. A page's repairs are queued before it is noted that it was looked at: what
    is lost between the two is found again.
    """

    roll: OrganisationRegistry
    store: ReconcileStore
    sides: DiffSources
    queue: JobQueue
    clock: Clock

    def run(self) -> Iterator[DiffPage]:
        """Look at pages, until every organisation had its turn or the run has used what it may, and yield each.

        Of what is yielded, `jobs` are those that were queued.

        Raises:
            FencepostError: `conversations_unavailable` or `index_unavailable`; the next turn goes on there.
        """
        run, first = _Run(self.clock() + SLICE), None
        while not run.is_over(self.clock()):
            org = self._next()
            if org is None or org == first:
                return
            first = first or org
            self.roll.done(org)
            yield from self._organisation(org, run)

    def _next(self) -> str | None:
        """Return the organisation whose turn it is; None where there are none."""
        after = self.roll.last_done()
        turn = self.roll.page(after=after, limit=1).items or self.roll.page(after=None, limit=1).items
        return turn[0] if turn else None

    def _organisation(self, org: str, run: _Run) -> Iterator[DiffPage]:
        scope = authorize(Operator(org), Action.ADMINISTER, Resource(org))
        comparison = IndexDiff(self.sides, scope)
        progress: DiffProgress | None = self.store.progress(scope)
        while progress is not None and not run.is_over(self.clock()):
            with index_errors():
                looked = comparison.look(progress)
            queued = run.new(looked.jobs)
            self.queue.send(queued)
            self.store.keep(scope, looked.then or DiffProgress())
            progress = looked.then
            run.reads += looked.reads
            yield replace(looked, jobs=tuple(queued))
