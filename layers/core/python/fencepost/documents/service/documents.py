"""Documents as an admin sees them: added, listed, read again, changed and removed. Jobs do the work."""

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
"""What may be uploaded, by its media type."""

_FOR_ITS_SITE: Final = Acl()
_TRIES: Final = 3
_TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """What an admin says of a document; see `fencepost.documents.domain.documents.Document`."""

    title: str = ""
    site: str = ""
    url: str = ""
    source: str = ""
    language: str = ""
    kind: DocumentKind = DocumentKind.MARKDOWN
    origin: DocumentOrigin = DocumentOrigin.INLINE
    acl: Acl = _FOR_ITS_SITE
    refresh_hours: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChanges:
    """What an admin wants to be different; None leaves it as it is."""

    title: str | None = None
    url: str | None = None
    language: str | None = None
    acl: Acl | None = None
    refresh_hours: int | None = None

    def of(self, document: Document) -> Document:
        """Return the document with them."""
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
    """An organisation's documents. Every method asks for a scope of the action `administer`."""

    store: DocumentStore
    blobs: BlobStore
    queue: JobQueue
    clock: Clock

    def add(self, scope: Scope, new: NewDocument, content: bytes | None = None, document_id: str = "") -> Document:
        """Store a document, and have it read.

        Args:
            scope: of the organisation.
            new: what it is.
            content: of a document that is sent along; None for one that is fetched.
            document_id: chosen by whoever adds the same again; otherwise a new one.

        Raises:
            FencepostError: `document_busy`, there is another one with this id; `conversations_unavailable`.
        """
        document = self._new(scope, new, DocumentState.QUEUED, document_id)
        if content is not None:
            self.blobs.put(scope, objects.document_given(document.id), content, _TEXT)
        self._create(scope, document)
        self._send(scope, document.id, Purpose.INGEST)
        return document

    def offer(self, scope: Scope, new: NewDocument, content_type: str, size: int) -> tuple[Document, UploadForm]:
        """Announce an upload, and return the form that it is sent with; `refresh` has it read once it has come.

        Args:
            scope: of the organisation.
            new: what it is; its kind and origin follow from the rest.
            content_type: one of `UPLOAD_KINDS`.
            size: bytes, at least 1; the upload may not be larger.

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
        """Return documents, newest first."""
        return self.store.page(scope, after=after, limit=limit)

    def get(self, scope: Scope, document_id: str) -> Document:
        """Return a document.

        Raises:
            FencepostError: `not_found`, also where it is being removed.
        """
        document = self.store.get(scope, document_id)
        if document is None or document.state is DocumentState.REMOVED:
            raise FencepostError(ErrorCode.NOT_FOUND)
        return document

    def refresh(self, scope: Scope, document_id: str) -> Document:
        """Have a document read again, or for the first time once it was uploaded.

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
        """Change what is said of a document, or what is written in one that was sent along.

        Other rights hold at once for what is found; a job then brings the index in step, and a sitemap's pages.

        Raises:
            FencepostError: `not_found`, `document_busy`; `document_invalid`, the document was not sent along.
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
        """Have a document removed. From here on nobody finds it.

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
        """Change a document as it is at this moment, however often somebody else is faster."""
        for _ in range(_TRIES):
            before = self.get(scope, document_id)
            after = replace(change(before), updated_at=self.clock())
            if self.store.change(scope, before, after):
                return after
        raise FencepostError(ErrorCode.DOCUMENT_BUSY)

    def _send(self, scope: Scope, document_id: str, purpose: Purpose) -> None:
        # The row says that it waits: what does not get into the queue, the schedule brings there.
        with suppress(FencepostError):
            self.queue.send([document_job(scope, document_id, purpose, self.clock)])


def _queued(before: Document, after: Document, content: bytes | None) -> Document:
    """Have a document read again where its entries in the index are other ones by now."""
    said = [(each.title, each.language, each.acl) for each in (before, after)]
    sitemap = after.origin is DocumentOrigin.SITEMAP and before != after
    if before.state is DocumentState.AWAITED or not (content is not None or said[0] != said[1] or sitemap):
        return after
    return replace(after, state=DocumentState.QUEUED)
