"""Entries of the index that lead to no row: found by a question, removed by a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.domain.corpus import DocumentState
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.identity import Scope
from fencepost.domain.ingestion import is_left_over
from fencepost.domain.jobs import Job, Purpose
from fencepost.domain.retrieval import Hit, IndexUnavailable
from fencepost.ports import Clock, JobQueue
from fencepost.services.document_rows import DocumentRows
from fencepost.services.ingest import working
from fencepost.services.sitemaps import document_job


@dataclass(frozen=True, slots=True)
class Strays:
    """Queues the removal of dead hits: one job for each document."""

    queue: JobQueue
    clock: Clock

    def bury(self, scope: Scope, dead: Sequence[Hit]) -> None:
        """Queue it.

        Raises:
            FencepostError: `conversations_unavailable`; the queue does not answer.
        """
        parents = dict.fromkeys(hit.parent for hit in dead)
        self.queue.send([document_job(scope, parent, Purpose.REMOVE_STRAYS, self.clock) for parent in parents])


@dataclass(frozen=True, slots=True)
class StrayRemoval:
    """Removes the entries of a document that none of its rows knows."""

    rows: DocumentRows
    clock: Clock

    def run(self, scope: Scope, job: Job) -> None:
        """Do it. Who builds a version of the document holds its lease: what is not known yet is never taken for lost.

        Raises:
            FencepostError: `document_busy`, `index_unavailable` or `conversations_unavailable`. Later may do.
        """
        document_id = job.document or ""
        with working(self.rows.store, scope, document_id, self.clock):
            try:
                self.rows.remove_entries(scope, document_id, self._known(scope, document_id))
            except IndexUnavailable:
                raise FencepostError(ErrorCode.INDEX_UNAVAILABLE) from None

    def _known(self, scope: Scope, document_id: str) -> frozenset[str]:
        document = self.rows.store.get(scope, document_id)
        if document is None or document.state is DocumentState.REMOVED:
            return frozenset()
        rows = (row for page in self.rows.pages(scope, document_id) for row in page if not is_left_over(row, document))
        return frozenset(one for row in rows for one in (row.stored_id, row.stale_id))
