"""Compare the index with the tables for all organisations in turn, in runs of limited size."""

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
"""Reads of index and tables after which a run ends with its page."""
REPAIRS: Final = 100
"""Jobs after which a run ends, so that many findings are repaired at the pace of the queue."""
SLICE: Final = timedelta(seconds=40)
"""Time after which a run ends; less than the function's timeout."""


@dataclass(slots=True)
class _Run:
    """Budget of one run: its reads, and the repairs that it has queued."""

    until: datetime
    reads: int = 0
    queued: set[tuple[str, str, str, str | None, str | None]] = field(default_factory=set)

    def is_over(self, now: datetime) -> bool:
        """Tell whether reads, repairs or time are used up."""
        return self.reads >= READS or len(self.queued) >= REPAIRS or now >= self.until

    def new(self, jobs: tuple[Job, ...]) -> list[Job]:
        """Return the jobs that this run has not queued yet, and count them as queued."""
        named = {(job.org, job.purpose, job.owner, job.document, job.conversation): job for job in jobs}
        fresh = [job for name, job in named.items() if name not in self.queued]
        self.queued.update(named)
        return fresh


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciler:
    """Compares index and tables, each run from where the one before it ended. Runs may overlap.

    An organisation's turn is stored as done before it begins. So an organisation that fails does not hold up the
    others, and one that is too big for a run continues at its next turn. Repairs of a page are queued before progress
    is stored: findings that are lost in between are found again.
    """

    registry: OrganisationRegistry
    store: ReconcileStore
    sources: DiffSources
    queue: JobQueue
    clock: Clock

    def run(self) -> Iterator[DiffPage]:
        """Compare pages until every organisation had its turn or the run's budget is used up, and yield each page.

        The `jobs` of a yielded page are those that were queued.

        Raises:
            FencepostError: `conversations_unavailable` or `index_unavailable`; the organisation's next turn continues
                with the same page.
        """
        run, first = _Run(self.clock() + SLICE), None
        while not run.is_over(self.clock()):
            after = self.registry.last_done()
            # After the last organisation, the first one follows.
            turn = self.registry.page(after=after, limit=1).items or self.registry.page(after=None, limit=1).items
            if not turn or turn[0] == first:
                return
            org = turn[0]
            first = first or org
            self.registry.done(org)
            yield from self._compare(org, run)

    def _compare(self, org: str, run: _Run) -> Iterator[DiffPage]:
        scope = authorize(Operator(org), Action.ADMINISTER, Resource(org))
        comparison = IndexDiff(self.sources, scope)
        progress: DiffProgress | None = self.store.progress(scope)
        while progress is not None and not run.is_over(self.clock()):
            with index_errors():
                page = comparison.compare_page(progress)
            queued = run.new(page.jobs)
            self.queue.send(queued)
            self.store.keep(scope, page.then or DiffProgress())
            progress = page.then
            run.reads += page.reads
            yield replace(page, jobs=tuple(queued))
