"""Wiring of the work on documents, which the jobs function and `make ingest` do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from fencepost.blobs.ports import BlobStore
from fencepost.bootstrap.stores import TenantStores
from fencepost.bootstrap.wiring.documents import document_blobs, document_store
from fencepost.bootstrap.wiring.retrieval import embedder_of
from fencepost.documents.domain.chunking.bounds import BYTE_BOUNDS, LOCAL_BOUNDS, Bounds
from fencepost.documents.domain.chunking.chunks import chunk
from fencepost.documents.fetching.pinned_http import Network, Timeouts
from fencepost.documents.fetching.web import DOCUMENTS, PAGE, SITEMAP, Wanted, WebDocumentFetcher
from fencepost.documents.readers.page_text import PageText
from fencepost.documents.service.ingest import SLICE, IngestService, RemovalService
from fencepost.documents.service.sitemaps import Sitemaps
from fencepost.documents.service.sources import Sources
from fencepost.documents.service.version_build import ReportProgress
from fencepost.documents.service.versions import Versions
from fencepost.jobs.service.repair import DocumentRepair
from fencepost.jobs.service.runner import JobHandler
from fencepost.kernel.clock import utc_now
from fencepost.queue.domain import Purpose
from fencepost.queue.ports import JobQueue
from fencepost.retrieval.dynamodb import DynamoDbEmbeddingCache
from fencepost.retrieval.ports import EmbeddingCache, VectorIndex
from fencepost.retrieval.service.embedding import CachedEmbedder
from fencepost.settings import Settings

_NETWORK = Network(timeouts=Timeouts(connect=3, read=5, total=20))
"""Longer timeouts than in a request, which a visitor waits for."""


@dataclass(frozen=True, slots=True)
class Ingestion:
    """The services that work on documents."""

    ingest: IngestService
    removal: RemovalService
    repair: DocumentRepair

    def handlers(self) -> Mapping[Purpose, JobHandler]:
        """Return the job handlers by purpose."""
        return {
            Purpose.INGEST: self.ingest.run,
            Purpose.REMOVE_DOCUMENT: self.removal.run,
            Purpose.REPAIR: self.repair.run,
        }


def ingestion(
    settings: Settings,
    stores: TenantStores,
    index: VectorIndex,
    queue: JobQueue,
    *,
    report_progress: ReportProgress = lambda *_: None,
    slice_: timedelta = SLICE,
) -> Ingestion:
    """Build the services that work on documents. Opens no connection.

    Args:
        settings: settings of the deployment.
        stores: its stores.
        index: its vector index.
        queue: receives follow-up jobs.
        report_progress: called with the progress.
        slice_: how long a job works before it queues itself again.
    """
    store, blobs = document_store(stores), document_blobs(stores)
    cache: EmbeddingCache = stores.build(lambda access: DynamoDbEmbeddingCache(stores.corpus_table, access.dynamodb))
    embedder, bounds = CachedEmbedder(embedder_of(settings), cache), chunk_bounds(settings)
    versions = Versions(
        store=store,
        index=index,
        embedder=embedder,
        blobs=blobs,
        chunker=lambda text, language: chunk(text, embedder.count, bounds, language),
        clock=utc_now,
    )
    sitemaps = Sitemaps(store=store, blobs=blobs, queue=queue, clock=utc_now)
    ingest = IngestService(
        store=store,
        blobs=blobs,
        sources=_sources(settings, blobs),
        versions=versions,
        sitemaps=sitemaps,
        queue=queue,
        clock=utc_now,
        report_progress=report_progress,
        slice=slice_,
    )
    removal = RemovalService(store=store, blobs=blobs, versions=versions, sitemaps=sitemaps, clock=utc_now)
    repair = DocumentRepair(store=store, versions=versions, queue=queue, clock=utc_now, slice=slice_)
    return Ingestion(ingest, removal, repair)


def chunk_bounds(settings: Settings) -> Bounds:
    """Return the bounds of a chunk's length, in tokens as the embedder counts them."""
    return LOCAL_BOUNDS if settings.embedder == "local" else BYTE_BOUNDS


def _sources(settings: Settings, blobs: BlobStore) -> Sources:
    def web(wanted: Wanted) -> WebDocumentFetcher:
        return WebDocumentFetcher(allow_loopback=settings.docs_allow_loopback, network=_NETWORK, wanted=wanted)

    return Sources(pages=web(PAGE), files=web(DOCUMENTS), sitemaps=web(SITEMAP), reader=PageText(), blobs=blobs)
