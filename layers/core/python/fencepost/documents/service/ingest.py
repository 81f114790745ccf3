"""Jobs that read documents into the index, and remove them from it.

A job may be interrupted anywhere and run again.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore
from fencepost.documents.domain.documents import Document, DocumentOrigin, DocumentState
from fencepost.documents.domain.entries import fingerprint
from fencepost.documents.ports import DocumentStore
from fencepost.documents.service.document_jobs import document_job, document_lease, store_change
from fencepost.documents.service.sitemaps import Sitemaps
from fencepost.documents.service.sources import DocumentSource, Sources
from fencepost.documents.service.version_build import ReportProgress
from fencepost.documents.service.versions import Versions, hash_of
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.links import plain_text
from fencepost.kernel.ports import Clock
from fencepost.kernel.text import language_of
from fencepost.queue.domain import Job, Purpose
from fencepost.queue.ports import JobQueue
from fencepost.retrieval.service.index_errors import PermanentError, index_errors

SLICE: Final = timedelta(seconds=50)
"""How long a job works before it queues itself again. Shorter than a job may run
(`fencepost.jobs.handlers.consumer.JOB_SECONDS`)."""

_RAW, _TEXT = "application/octet-stream", "text/plain; charset=utf-8"
_PERMANENT = frozenset(
    {
        ErrorCode.SOURCE_UNREACHABLE,
        ErrorCode.SOURCE_EMPTY,
        ErrorCode.DOCUMENT_UNREADABLE,
        ErrorCode.DOCUMENT_TOO_LARGE,
        ErrorCode.DOCUMENT_NOT_UPLOADED,
    }
)
"""Errors that a retry would meet again: the document fails, and searches still find its last complete version."""


class _Paused(Exception):
    """The job's time slice ended before its work did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestService:
    """Reads queued documents and builds their next versions.

    Attributes:
        report_progress: receives the progress of each document.
        slice: see `SLICE`.
    """

    store: DocumentStore
    blobs: BlobStore
    sources: Sources
    versions: Versions
    sitemaps: Sitemaps
    queue: JobQueue
    clock: Clock
    report_progress: ReportProgress = lambda _done, _of: None
    slice: timedelta = SLICE

    def run(self, scope: Scope, job: Job) -> None:
        """Read and index a document. Does nothing unless it is queued or being indexed.

        Raises:
            FencepostError: `document_busy`, another worker or an admin is changing it; `index_unavailable`,
                `embedder_unavailable` or `conversations_unavailable`. A retry may succeed.
        """
        with document_lease(self.store, scope, job.document or "", self.clock):
            document = self.store.get(scope, job.document or "")
            if document and document.state in (DocumentState.QUEUED, DocumentState.INDEXING):
                self._try(scope, document, self.clock() + self.slice)

    def _try(self, scope: Scope, document: Document, until: datetime) -> None:
        """Advance a document, and let its row show a pause or an error."""
        try:
            with index_errors():
                self._advance(scope, document, until)
        except _Paused:
            self._touch(scope, document.id)
            self.queue.send([document_job(scope, document.id, Purpose.INGEST, self.clock)])
        except FencepostError as error:
            permanent = isinstance(error, PermanentError) or error.code in _PERMANENT
            self._note(scope, document.id, error.code, permanent=permanent)
            if not permanent:
                raise

    def _advance(self, scope: Scope, document: Document, until: datetime) -> None:
        resumed = document.next_version > document.version
        if document.state is DocumentState.QUEUED:
            document = self._read(scope, document)
        if document.next_version > document.version:
            document = self._build(scope, document, self._progress_until(until), resumed=resumed)
        if document.state is DocumentState.INDEXING:
            self.versions.clean(scope, document)
            self._change(scope, document, replace(document, state=DocumentState.READY, error=None))

    def _read(self, scope: Scope, document: Document) -> Document:
        """Read a document's source. If it is new, store it as the next version, which is to be built."""
        source = self.sources.read(scope, document)
        text = source.written.text if source else self._text(scope, document, document.version)
        described = _described(document, source) if source else document
        if self._is_current(described, text):
            current = replace(described, state=DocumentState.READY, error=None, checked_at=self.clock())
            return self._change(scope, document, current)
        version = document.version + 1
        self._store(scope, document, version, source, text)
        begun = replace(described, state=DocumentState.INDEXING, next_version=version, checked_at=self.clock())
        return self._change(scope, document, begun)

    def _store(self, scope: Scope, document: Document, version: int, source: DocumentSource | None, text: str) -> None:
        """Store a version's objects. Without a source, it has not changed: its raw copy is that of the last version."""
        raw = source.raw if source else self.blobs.get(scope, objects.document_raw(document.id, document.version))
        if raw is not None:
            self.blobs.put(scope, objects.document_raw(document.id, version), raw, _RAW)
        self.blobs.put(scope, objects.document_text(document.id, version), text.encode(), _TEXT)

    def _is_current(self, document: Document, text: str) -> bool:
        """Tell whether the current version has this text and these readers, and no version is being built.

        Never for a sitemap: it is followed each time, since its pages' documents may have missed a change.
        """
        if document.origin is DocumentOrigin.SITEMAP:
            return False
        entry = fingerprint(document, self.versions.embedder.model.name)
        settled = document.version == document.next_version > 0
        return settled and (document.content_hash, document.entry) == (hash_of(text), entry)

    def _build(self, scope: Scope, document: Document, report_progress: ReportProgress, *, resumed: bool) -> Document:
        text = self._text(scope, document, document.next_version)
        if document.origin is DocumentOrigin.SITEMAP:
            self.sitemaps.follow(scope, document, text)
            return self.versions.switch(scope, document, text, 0)
        return self.versions.build(scope, document, text, report_progress, resumed=resumed)

    def _text(self, scope: Scope, document: Document, version: int) -> str:
        text = self.blobs.get(scope, objects.document_text(document.id, version))
        if text is None:
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
        return text.decode()

    def _progress_until(self, until: datetime) -> ReportProgress:
        """Return a progress report that raises `_Paused` when the time slice has ended before the work."""

        def report(done: int, of: int) -> None:
            self.report_progress(done, of)
            if done < of and self.clock() >= until:
                raise _Paused

        return report

    def _change(self, scope: Scope, before: Document, after: Document) -> Document:
        return store_change(self.store, scope, before, after, self.clock)

    def _touch(self, scope: Scope, document_id: str) -> None:
        """Update the document's time of change, so that the schedule does not queue the work once more."""
        with suppress(FencepostError):
            if document := self.store.get(scope, document_id):
                self._change(scope, document, document)

    def _note(self, scope: Scope, document_id: str, code: ErrorCode, *, permanent: bool) -> None:
        """Record an error where an admin sees it. Reads the row again: the work may have changed it."""
        with suppress(FencepostError):
            document = self.store.get(scope, document_id)
            if document is None or document.state is DocumentState.REMOVED:
                return
            if permanent:
                failed = replace(document, state=DocumentState.FAILED, checked_at=self.clock())
                self._change(scope, document, replace(failed, error=code))
            elif code is not ErrorCode.DOCUMENT_BUSY:
                self._change(scope, document, replace(document, error=code))


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalService:
    """Deletes removed documents: index entries first, then the rows that refer to them, the document's row last."""

    store: DocumentStore
    blobs: BlobStore
    versions: Versions
    sitemaps: Sitemaps
    clock: Clock

    def run(self, scope: Scope, job: Job) -> None:
        """Delete the entries, rows and objects of a document. Does nothing unless its state is `REMOVED`.

        Raises:
            FencepostError: `document_busy`; `index_unavailable`, also while the index still lists entries; or
                `conversations_unavailable`. A retry may succeed.
        """
        with document_lease(self.store, scope, job.document or "", self.clock):
            document = self.store.get(scope, job.document or "")
            if document and document.state is DocumentState.REMOVED:
                with index_errors():
                    self._remove(scope, document)

    def _remove(self, scope: Scope, document: Document) -> None:
        if document.origin is DocumentOrigin.SITEMAP:
            self.sitemaps.leave(scope, document)
        for rows in self.versions.rows.pages(scope, document.id):
            self.versions.rows.drop(scope, document.id, rows)
        if self.versions.rows.remove_entries(scope, document.id, frozenset()):
            # The index may list removed entries for a while. The row stays until a retry finds none.
            raise FencepostError(ErrorCode.INDEX_UNAVAILABLE)
        self.versions.forget(scope, document.id)
        self.blobs.delete(scope, objects.document(document.id))
        self.store.remove(scope, document.id)


def _described(document: Document, source: DocumentSource) -> Document:
    """Return a document with the fields that its source tells. It keeps the title and language that it has."""
    written = source.written
    return replace(
        document,
        kind=source.kind,
        title=document.title or plain_text(written.title) or document.source or document.id,
        language=document.language or written.language or language_of(written.text),
        size_bytes=len(source.raw),
        etag=source.validators.etag or "",
        modified=source.validators.last_modified or "",
    )
