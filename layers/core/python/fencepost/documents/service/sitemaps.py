"""Keeps one document for each page that a sitemap lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore
from fencepost.documents.domain.documents import Document, DocumentKind, DocumentOrigin, DocumentState
from fencepost.documents.domain.sitemaps import child_id
from fencepost.documents.ports import DocumentStore
from fencepost.documents.service.document_jobs import document_job, store_change
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.ports import Clock
from fencepost.queue.domain import Job, Purpose
from fencepost.queue.ports import JobQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemaps:
    """Creates, updates and removes the documents of sitemaps' pages.

    The canonical text of a sitemap consists of the addresses of its pages, one per line.
    """

    store: DocumentStore
    blobs: BlobStore
    queue: JobQueue
    clock: Clock

    def follow(self, scope: Scope, sitemap: Document, text: str) -> None:
        """Create documents of new pages, queue those whose settings differ, and remove those of pages that are gone.

        Args:
            scope: of the organisation.
            sitemap: the sitemap's document.
            text: canonical text of its next version.

        Raises:
            FencepostError: `document_busy`, `conversations_unavailable`; a retry continues where this one stopped.
        """
        pages = dict.fromkeys(text.splitlines())
        jobs = list(self._listed(scope, sitemap, pages))
        before = self._pages(scope, sitemap, sitemap.version) if sitemap.version else []
        jobs += self._removed(scope, sitemap, (url for url in before if url not in pages))
        self.queue.send(jobs)

    def leave(self, scope: Scope, sitemap: Document) -> None:
        """Remove the documents of all pages of a sitemap that is being removed.

        Raises:
            FencepostError: as `follow`.
        """
        versions = {sitemap.version, sitemap.next_version}
        pages = {page for version in versions for page in self._pages(scope, sitemap, version)}
        self.queue.send(list(self._removed(scope, sitemap, pages)))

    def _listed(self, scope: Scope, sitemap: Document, pages: Iterable[str]) -> Iterator[Job]:
        """Create or update the documents of pages that a sitemap lists, and yield the jobs that read them."""
        for url in pages:
            child = self._child(sitemap, url)
            if not self.store.create(scope, child):
                known = self.store.get(scope, child.id)
                child = self._in_step(scope, sitemap, known) if known else child
            if child.state is DocumentState.QUEUED:
                yield document_job(scope, child.id, Purpose.INGEST, self.clock)

    def _in_step(self, scope: Scope, sitemap: Document, child: Document) -> Document:
        """Give a page the ACL, site, refresh interval and, if set, the language of its sitemap, and return it.

        A page that is being removed stays as it is; the next reading of the sitemap creates it again.
        """
        wanted = replace(
            child,
            acl=sitemap.acl,
            site=sitemap.site,
            refresh_hours=sitemap.refresh_hours,
            language=sitemap.language or child.language,
        )
        if wanted == child or child.state is DocumentState.REMOVED:
            return child
        return store_change(self.store, scope, child, replace(wanted, state=DocumentState.QUEUED), self.clock)

    def _removed(self, scope: Scope, sitemap: Document, pages: Iterable[str]) -> Iterator[Job]:
        """Mark the documents of pages as removed, and yield the jobs that delete them."""
        for url in pages:
            child = self.store.get(scope, child_id(sitemap.id, url))
            if child is None:
                continue
            if child.state is not DocumentState.REMOVED:
                store_change(self.store, scope, child, replace(child, state=DocumentState.REMOVED), self.clock)
            yield document_job(scope, child.id, Purpose.REMOVE_DOCUMENT, self.clock)

    def _pages(self, scope: Scope, sitemap: Document, version: int) -> list[str]:
        text = self.blobs.get(scope, objects.document_text(sitemap.id, version))
        return text.decode().splitlines() if text else []

    def _child(self, sitemap: Document, url: str) -> Document:
        return Document(
            id=child_id(sitemap.id, url),
            org=sitemap.org,
            site=sitemap.site,
            title="",
            kind=DocumentKind.HTML,
            origin=DocumentOrigin.PAGE,
            acl=sitemap.acl,
            state=DocumentState.QUEUED,
            created_at=sitemap.created_at,
            updated_at=self.clock(),
            url=url,
            source=url,
            parent=sitemap.id,
            language=sitemap.language,
            refresh_hours=sitemap.refresh_hours,
        )
