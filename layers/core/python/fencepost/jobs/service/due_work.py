"""Queue what waits for work and for which no request will come: sources to be asked again, and work that was lost."""

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
PAGES: Final = 10
"""Of one run; the next run queues the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDocuments:
    """Queues jobs for due documents. Two runs at once do no harm: the one that changes a row queues its document."""

    agenda: DueDocumentStore
    store: DocumentStore
    queue: JobQueue
    clock: Clock

    def run(self) -> Iterator[Job]:
        """Queue a job for each document that is due, and yield those that were queued.

        A row is changed before its job is sent: what is lost between the two is due again later, and nothing is queued
        again and again while it waits.

        Raises:
            FencepostError: `conversations_unavailable`; what was not queued by then is still due.
        """
        for _ in range(PAGES):
            found = self.agenda.due(self.clock(), PAGE)
            jobs = [job for org, document_id in found if (job := self._claimed(org, document_id))]
            self.queue.send(jobs)
            yield from jobs
            # The agenda is seconds behind: where none could be claimed, it only repeats what was done.
            if len(found) < PAGE or not jobs:
                return

    def _claimed(self, org: str, document_id: str) -> Job | None:
        scope = _operator(org)
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


def _operator(org: str) -> Scope:
    """Return the scope of an organisation's documents. The job is authorised, and the decision reported, as it runs."""
    return authorize(Operator(org), Action.ADMINISTER, Resource(org))
