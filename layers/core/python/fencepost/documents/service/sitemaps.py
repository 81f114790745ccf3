"""A sitemap's pages: each a document of its own, which comes and goes with its place in the sitemap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore
from fencepost.documents.domain.documents import Document, DocumentKind, DocumentOrigin, DocumentState
from fencepost.documents.domain.sitemaps import child_id
from fencepost.documents.ports import DocumentStore
from fencepost.documents.service.document_jobs import changed, document_job
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.ports import Clock
from fencepost.queue.domain import Job, Purpose
from fencepost.queue.ports import JobQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemaps:
    """Keeps the pages' documents in step with their sitemap. A sitemap's text is its pages' addresses, one a line."""

    store: DocumentStore
    blobs: BlobStore
    queue: JobQueue
    clock: Clock

    def follow(self, scope: Scope, sitemap: Document, text: str) -> None:
        """Have pages read that are new, or are to be read under other rights, and removed that are gone.

        Raises:
            FencepostError: `document_busy`, `conversations_unavailable`; what was done by then is not done again.
        """
        pages = text.splitlines()
        jobs = [*self._wanted(scope, sitemap, pages), *self._gone(scope, sitemap, set(pages))]
        self.queue.send(jobs)

    def leave(self, scope: Scope, sitemap: Document) -> None:
        """Have all its pages removed.

        Raises:
            FencepostError: as `follow`.
        """
        versions = {sitemap.version, sitemap.next_version}
        pages = {page for version in versions for page in self._pages(scope, sitemap, version)}
        self.queue.send(list(self._removed(scope, sitemap, pages)))

    def _wanted(self, scope: Scope, sitemap: Document, pages: Sequence[str]) -> Iterator[Job]:
        for url in pages:
            child = self._child(sitemap, url)
            if not self.store.create(scope, child):
                known = self.store.get(scope, child.id)
                child = self._in_step(scope, sitemap, known) if known else child
            if child.state is DocumentState.QUEUED:
                yield self._job(scope, child.id, Purpose.INGEST)

    def _in_step(self, scope: Scope, sitemap: Document, child: Document) -> Document:
        """Give a page its sitemap's rights, and its language where it has one.

        A page that was removed comes back with the next reading of the sitemap.
        """
        ruled = replace(child, acl=sitemap.acl, site=sitemap.site, refresh_hours=sitemap.refresh_hours)
        wanted = replace(ruled, language=sitemap.language or child.language)
        if wanted == child or child.state is DocumentState.REMOVED:
            return child
        return changed(self.store, scope, child, replace(wanted, state=DocumentState.QUEUED), self.clock)

    def _gone(self, scope: Scope, sitemap: Document, pages: set[str]) -> Iterator[Job]:
        before = self._pages(scope, sitemap, sitemap.version) if sitemap.version else ()
        yield from self._removed(scope, sitemap, (url for url in before if url not in pages))

    def _removed(self, scope: Scope, sitemap: Document, pages: Iterable[str]) -> Iterator[Job]:
        for url in pages:
            child = self.store.get(scope, child_id(sitemap.id, url))
            if child is None:
                continue
            if child.state is not DocumentState.REMOVED:
                changed(self.store, scope, child, replace(child, state=DocumentState.REMOVED), self.clock)
            yield self._job(scope, child.id, Purpose.REMOVE_DOCUMENT)

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

    def _job(self, scope: Scope, document_id: str, purpose: Purpose) -> Job:
        return document_job(scope, document_id, purpose, self.clock)
