"""Admins' operations on documents: add, list, refresh, change and remove. Jobs then do the work."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore, UploadForm
from fencepost.documents.domain.documents import (
    MAX_DOCUMENT_BYTES,
    Document,
    DocumentKind,
    DocumentOrigin,
    DocumentState,
)
from fencepost.documents.ports import DocumentStore
from fencepost.documents.service.document_jobs import document_job
from fencepost.identity.domain.scope import Acl, Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ids import RANDOM_BITS, uuid7
from fencepost.kernel.paging import Page
from fencepost.kernel.ports import Clock
from fencepost.queue.domain import Purpose
from fencepost.queue.ports import JobQueue

UPLOAD_KINDS: Final = MappingProxyType(
    {
        "text/plain": DocumentKind.TEXT,
        "text/markdown": DocumentKind.MARKDOWN,
        "text/html": DocumentKind.HTML,
        "application/pdf": DocumentKind.PDF,
    }
)
"""Kinds of documents that may be uploaded, by media type."""

_VISITORS_OF_SITE: Final = Acl()
_TRIES: Final = 3
_TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """The fields of a new document; see `fencepost.documents.domain.documents.Document`.

    By default, the visitors of its site may read it.
    """

    title: str = ""
    site: str = ""
    url: str = ""
    source: str = ""
    language: str = ""
    kind: DocumentKind = DocumentKind.MARKDOWN
    origin: DocumentOrigin = DocumentOrigin.INLINE
    acl: Acl = _VISITORS_OF_SITE
    refresh_hours: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChanges:
    """Fields of a document to change. None leaves a field as it is."""

    title: str | None = None
    url: str | None = None
    language: str | None = None
    acl: Acl | None = None
    refresh_hours: int | None = None

    def of(self, document: Document) -> Document:
        """Return a document with these changes."""
        return replace(
            document,
            title=document.title if self.title is None else self.title,
            url=document.url if self.url is None else self.url,
            language=document.language if self.language is None else self.language,
            acl=document.acl if self.acl is None else self.acl,
            refresh_hours=document.refresh_hours if self.refresh_hours is None else self.refresh_hours,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentService:
    """An organisation's documents. Every method requires a scope of the action `administer`."""

    store: DocumentStore
    blobs: BlobStore
    queue: JobQueue
    clock: Clock

    def add(self, scope: Scope, new: NewDocument, content: bytes | None = None, document_id: str = "") -> Document:
        """Store a new document and queue it for reading.

        Args:
            scope: of the organisation.
            new: its fields.
            content: its content; None for a document that is fetched.
            document_id: its id, for callers that may add the same document again; a new id by default.

        Raises:
            FencepostError: `document_busy`, another document has this id; `conversations_unavailable`.
        """
        document = self._new(scope, new, DocumentState.QUEUED, document_id)
        if content is not None:
            self.blobs.put(scope, objects.document_given(document.id), content, _TEXT)
        self._create(scope, document)
        self._send(scope, document.id, Purpose.INGEST)
        return document

    def offer(self, scope: Scope, new: NewDocument, content_type: str, size: int) -> tuple[Document, UploadForm]:
        """Create a document for an upload, and return it with the form to send it with.

        After the upload, the client calls `refresh` to have the document read.

        Args:
            scope: of the organisation.
            new: its fields; kind and origin are ignored.
            content_type: one of `UPLOAD_KINDS`.
            size: maximum size of the upload in bytes, at least 1.

        Raises:
            FencepostError: `document_type_unsupported`, `document_too_large`, `conversations_unavailable`.
        """
        kind = UPLOAD_KINDS.get(content_type)
        if kind is None:
            raise FencepostError(ErrorCode.DOCUMENT_TYPE_UNSUPPORTED)
        if size > MAX_DOCUMENT_BYTES:
            raise FencepostError(ErrorCode.DOCUMENT_TOO_LARGE)
        uploaded = replace(new, kind=kind, origin=DocumentOrigin.UPLOAD)
        document = self._new(scope, uploaded, DocumentState.AWAITED)
        self._create(scope, document)
        name = objects.document_upload(document.id)
        return document, self.blobs.upload_form(scope, name, content_type, size, objects.UPLOAD_SECONDS)

    def page(self, scope: Scope, after: str | None, limit: int) -> Page[Document]:
        """Return a page of documents, newest first."""
        return self.store.page(scope, after=after, limit=limit)

    def get(self, scope: Scope, document_id: str) -> Document:
        """Return a document.

        Raises:
            FencepostError: `not_found`, also for a document that is being removed.
        """
        document = self.store.get(scope, document_id)
        if document is None or document.state is DocumentState.REMOVED:
            raise FencepostError(ErrorCode.NOT_FOUND)
        return document

    def refresh(self, scope: Scope, document_id: str) -> Document:
        """Queue a document to be read again, or for the first time after its upload.

        Raises:
            FencepostError: `not_found`, `document_not_uploaded`, `document_busy`.
        """
        document = self.get(scope, document_id)
        name = objects.document_upload(document_id)
        if document.state is DocumentState.AWAITED and name not in self.blobs.names(scope, name):
            raise FencepostError(ErrorCode.DOCUMENT_NOT_UPLOADED)
        after = self._changed(scope, document_id, lambda known: replace(known, state=DocumentState.QUEUED))
        self._send(scope, document_id, Purpose.INGEST)
        return after

    def change(
        self, scope: Scope, document_id: str, changes: DocumentChanges, content: bytes | None = None
    ) -> Document:
        """Change a document's fields, or the content of an inline document.

        A new ACL applies to search results at once. A job then updates the index, and the pages of a sitemap.

        Raises:
            FencepostError: `not_found`, `document_busy`; `document_invalid`, content for a document that is not inline.
        """
        document = self.get(scope, document_id)
        if content is not None:
            if document.origin is not DocumentOrigin.INLINE:
                raise FencepostError(ErrorCode.DOCUMENT_INVALID)
            self.blobs.put(scope, objects.document_given(document_id), content, _TEXT)
        after = self._changed(scope, document_id, lambda known: _queued(known, changes.of(known), content))
        if after.state is DocumentState.QUEUED:
            self._send(scope, document_id, Purpose.INGEST)
        return after

    def remove(self, scope: Scope, document_id: str) -> None:
        """Mark a document as removed and queue its deletion. Searches do not find it from then on.

        Raises:
            FencepostError: `not_found`, `document_busy`.
        """
        self._changed(scope, document_id, lambda known: replace(known, state=DocumentState.REMOVED))
        self._send(scope, document_id, Purpose.REMOVE_DOCUMENT)

    def _new(self, scope: Scope, new: NewDocument, state: DocumentState, document_id: str = "") -> Document:
        now = self.clock()
        return Document(
            id=document_id or uuid7(now, secrets.randbits(RANDOM_BITS)),
            org=scope.org,
            site=new.site,
            title=new.title,
            kind=new.kind,
            origin=new.origin,
            acl=new.acl,
            state=state,
            created_at=now,
            updated_at=now,
            url=new.url or new.source,
            source=new.source,
            language=new.language,
            refresh_hours=new.refresh_hours,
        )

    def _create(self, scope: Scope, document: Document) -> None:
        if not self.store.create(scope, document):
            raise FencepostError(ErrorCode.DOCUMENT_BUSY)

    def _changed(self, scope: Scope, document_id: str, change: Callable[[Document], Document]) -> Document:
        """Apply a change to the stored document, again if another writer was faster.

        Raises:
            FencepostError: `not_found`; `document_busy`, other writers were faster three times.
        """
        for _ in range(_TRIES):
            before = self.get(scope, document_id)
            after = replace(change(before), updated_at=self.clock())
            if self.store.change(scope, before, after):
                return after
        raise FencepostError(ErrorCode.DOCUMENT_BUSY)

    def _send(self, scope: Scope, document_id: str, purpose: Purpose) -> None:
        # The row is due for work already: if queueing fails, the schedule queues it later.
        with suppress(FencepostError):
            self.queue.send([document_job(scope, document_id, purpose, self.clock)])


def _queued(before: Document, after: Document, content: bytes | None) -> Document:
    """Return a changed document, queued if the change affects its index entries or, for a sitemap, its pages."""
    indexed_before, indexed_after = [(each.title, each.language, each.acl) for each in (before, after)]
    is_sitemap_changed = after.origin is DocumentOrigin.SITEMAP and before != after
    affected = content is not None or indexed_before != indexed_after or is_sitemap_changed
    if before.state is DocumentState.AWAITED or not affected:
        return after
    return replace(after, state=DocumentState.QUEUED)
