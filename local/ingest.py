"""`make ingest SRC=docs/ ORG=acme SITE=docs`: ingest a file, a folder or an address into the running cloud's index.

With `PROFILE=` the index is that of the stack on AWS. The work is done in this process rather than by the functions, so
that its progress can be shown, and with the caller's credentials. A document that is ingested again replaces its
earlier version; only changed chunks are embedded.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from fencepost.bootstrap.stores import tenant_stores
from fencepost.bootstrap.wiring.documents import document_service
from fencepost.bootstrap.wiring.ingestion import ingestion
from fencepost.bootstrap.wiring.retrieval import index_of
from fencepost.documents.domain.documents import Document, DocumentState
from fencepost.documents.service.documents import DocumentChanges, DocumentService
from fencepost.identity.domain.scope import Scope
from fencepost.jobs.service.runner import JobHandler
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.observability.powertools.log import LambdaEvents
from fencepost.queue.domain import Job, Purpose
from local import directory
from local.deployment import connected
from local.ingest_sources import SourceItem, items
from local.progress import ProgressLine
from local.trouble import Trouble

_EXAMPLE = "make ingest SRC=docs/ ORG=acme SITE=docs"
_WITHOUT_END = timedelta(days=1)
_GOOD = frozenset({DocumentState.READY, DocumentState.REMOVED})


def main() -> int:
    """Ingest, print the outcome, and return the exit code: 1 if a document failed."""
    try:
        return run(os.environ)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return trouble.exit_code
    except KeyboardInterrupt:
        print("\nStopped. What was begun goes on by itself, or with the next `make ingest`.", file=sys.stderr)
        return 1


def run(environment: Mapping[str, str]) -> int:
    """Ingest the documents that the environment names, and return the exit code.

    Raises:
        Trouble: a variable is missing or wrong, or no local cloud is running.
    """
    org = directory.named("ORG", environment.get("ORG") or directory.DEMO, _EXAMPLE)
    site = environment.get("SITE", "")
    found = items(environment.get("SRC", ""), directory.named("SITE", site, _EXAMPLE) if site else "")
    profile = environment.get("DEPLOYED", "")
    work = _connected(profile, len(found))
    if site:
        _require_site(profile, org, site)
    scope = directory.operator(org)
    failed = sum(not work.add(scope, item) for item in found)
    noun = "document" if len(found) == 1 else "documents"
    print(f"{len(found)} {noun}, {failed} failed." if failed else f"{len(found)} {noun} up to date.")
    return 1 if failed else 0


def _require_site(profile: str, org: str, site: str) -> None:
    try:
        known = directory.reached(profile).site(directory.operator(org), site)
    except FencepostError as error:
        raise Trouble(_sentence(error.code, _silence(profile))) from None
    if known is None:
        raise Trouble(
            f"{org} has no site {site}: make it with `make site ORG={org} SITE={site} ORIGINS=…`", exit_code=2
        )


class Waiting:
    """Implements `fencepost.queue.ports.JobQueue` with a queue in this process."""

    def __init__(self) -> None:
        self.jobs: deque[Job] = deque()

    def send(self, jobs: Sequence[Job]) -> None:
        """Append the jobs."""
        self.jobs.extend(jobs)


@dataclass
class Ingest:
    """Adds documents and runs their jobs.

    Attributes:
        waiting: the jobs that `service` and `handlers` queue.
        silent: the sentence for a store that does not answer.
        names: names of the added documents by id.
    """

    service: DocumentService
    handlers: Mapping[Purpose, JobHandler]
    waiting: Waiting
    progress: ProgressLine
    silent: str = directory.LOCAL_SILENT
    names: dict[str, str] = field(default_factory=dict)

    def add(self, scope: Scope, item: SourceItem) -> bool:
        """Add a document, run the jobs that follow, and return whether all of them succeeded.

        Raises:
            Trouble: the file cannot be read.
        """
        self.names[item.id] = item.name
        self.progress.begin(item.name)
        content = item.content()
        try:
            self._queue(scope, item, content)
        except FencepostError as error:
            self.progress.finish(_sentence(error.code, self.silent))
            return False
        return self._work(scope)

    def _queue(self, scope: Scope, item: SourceItem, content: bytes | None) -> None:
        try:
            self.service.add(scope, item.new, content, item.id)
        except FencepostError as error:
            if error.code is not ErrorCode.DOCUMENT_BUSY:
                raise
            # The document exists.
            if content is not None:
                self.service.change(scope, item.id, DocumentChanges(), content)
            else:
                self.service.refresh(scope, item.id)

    def _work(self, scope: Scope) -> bool:
        """Run the queued jobs and those that they queue: each page of a sitemap becomes a document."""
        good = True
        while self.waiting.jobs:
            job = self.waiting.jobs.popleft()
            self.progress.of = max(self.progress.of, self.progress.finished + 1 + len(self.waiting.jobs))
            good &= self._do(scope, job)
        return good

    def _do(self, scope: Scope, job: Job) -> bool:
        document_id = job.document or ""
        try:
            self.progress.begin(self.names.get(document_id) or self._address(scope, document_id))
            self.handlers[job.purpose](scope, job)
            document = self.service.store.get(scope, document_id)
        except FencepostError as error:
            self.progress.finish(_sentence(error.code, self.silent))
            return False
        self.progress.finish(_outcome(document))
        return document is None or document.state in _GOOD

    def _address(self, scope: Scope, document_id: str) -> str:
        document = self.service.store.get(scope, document_id)
        return document.source if document else document_id


def _connected(profile: str, documents: int) -> Ingest:
    """Build the services that work on a stack, as its jobs function does."""
    settings = connected(profile)
    index = index_of(settings)
    if index is None:
        raise Trouble("This Fencepost has no index: give it one with Index, or without FENCEPOST_INDEX=none.")
    reached, waiting, progress = tenant_stores(settings, LambdaEvents()), Waiting(), ProgressLine(documents, sys.stderr)
    workers = ingestion(settings, reached, index, waiting, report_progress=progress.part, slice_=_WITHOUT_END)
    return Ingest(document_service(reached, waiting), workers.handlers(), waiting, progress, _silence(profile))


def _outcome(document: Document | None) -> str:
    if document is None or document.state is DocumentState.REMOVED:
        return "removed"
    if document.error:
        return document.error
    return f"{document.state}, version {document.version}, {document.chunks:,} chunks"


def _silence(profile: str) -> str:
    return directory.DEPLOYED_SILENT if profile else directory.LOCAL_SILENT


def _sentence(code: ErrorCode, silent: str) -> str:
    known = {
        ErrorCode.CONVERSATIONS_UNAVAILABLE: silent,
        ErrorCode.DOCUMENT_BUSY: "somebody else is working on it; it will be queued again by itself",
        ErrorCode.NOT_FOUND: "it is being removed; try again in a moment",
    }
    return known.get(code, str(code))


if __name__ == "__main__":
    sys.exit(main())
