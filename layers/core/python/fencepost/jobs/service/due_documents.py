"""Queue jobs for due documents: sources to fetch again, and documents whose job was lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from fencepost.documents.domain.documents import Document, DocumentState, due_at, is_at_rest
from fencepost.documents.ports import DocumentStore, DueDocumentStore
from fencepost.documents.service.document_jobs import document_job
from fencepost.identity.domain.scope import Action, Operator, Resource, Scope, authorize
from fencepost.kernel.ports import Clock
from fencepost.queue.domain import Job, Purpose
from fencepost.queue.ports import JobQueue

PAGE: Final = 100
"""Due documents that are read and queued at a time."""
PAGES: Final = 10
"""Pages of one run; the next run queues the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDocuments:
    """Queues jobs for due documents.

    Runs may overlap: the run that changes a document's row queues its job, and the other one skips the document.
    """

    agenda: DueDocumentStore
    store: DocumentStore
    queue: JobQueue
    clock: Clock

    def run(self) -> Iterator[Job]:
        """Queue a job for each due document, and yield the queued jobs.

        A row is changed before its job is sent. A job that is lost in between is due again later, and a document whose
        job waits in the queue is not queued twice.

        Raises:
            FencepostError: `conversations_unavailable`; documents that were not queued by then are still due.
        """
        for _ in range(PAGES):
            found = self.agenda.due(self.clock(), PAGE)
            jobs = [job for org, document_id in found if (job := self._claimed_job(org, document_id))]
            self.queue.send(jobs)
            yield from jobs
            # The agenda is seconds behind: a page without any claim repeats documents that were claimed already.
            if len(found) < PAGE or not jobs:
                return

    def _claimed_job(self, org: str, document_id: str) -> Job | None:
        """Claim a document and return its job; None where it is not due any more or another run claimed it."""
        # The job is authorised, and the decision reported, when it runs.
        scope = authorize(Operator(org), Action.ADMINISTER, Resource(org))
        document = self.store.get(scope, document_id)
        if document is None or not self._claim(scope, document):
            return None
        removed = document.state is DocumentState.REMOVED
        purpose = Purpose.REMOVE_DOCUMENT if removed else Purpose.INGEST
        return document_job(scope, document_id, purpose, self.clock)

    def _claim(self, scope: Scope, document: Document) -> bool:
        now, due = self.clock(), due_at(document)
        if due is None or due > now:
            return False
        state = DocumentState.QUEUED if is_at_rest(document) else document.state
        return self.store.change(scope, document, replace(document, state=state, updated_at=now))
