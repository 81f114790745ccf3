"""What works on documents: in the jobs function, and on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from fencepost.bootstrap.recalling import stray_handlers
from fencepost.bootstrap.retrieval import cached_embedder, index_of
from fencepost.bootstrap.stores import Stores
from fencepost.documents.domain.chunking.bounds import Bounds
from fencepost.documents.domain.chunking.chunks import chunk
from fencepost.documents.fetching.pinned_http import Network, Timeouts
from fencepost.documents.fetching.web import DOCUMENTS, PAGE, SITEMAP, Wanted, WebDocumentFetcher
from fencepost.documents.readers.page_text import PageText
from fencepost.documents.service.ingest import SLICE, IngestService, RemovalService
from fencepost.documents.service.sitemaps import Sitemaps
from fencepost.documents.service.sources import Sources
from fencepost.documents.service.version_build import ReportProgress
from fencepost.documents.service.versions import Chunker, Versions
from fencepost.identity.domain.scope import Scope
from fencepost.jobs.service.repair import DocumentRepair
from fencepost.jobs.service.runner import JobHandler
from fencepost.kernel.clock import utc_now
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.queue.domain import Job, Purpose
from fencepost.queue.ports import JobQueue
from fencepost.queue.sqs import SqsJobQueue
from fencepost.retrieval.ports import VectorIndex
from fencepost.retrieval.service.embedding import CachedEmbedder
from fencepost.settings import Settings

_PATIENT = Network(timeouts=Timeouts(connect=3, read=5, total=20))
"""A job waits, and no visitor does."""
_BYTES = Bounds(least=300, aim=900, most=1_400, whole=8_000, overlap=160)
"""Where tokens are bounded by bytes, of which English has four a token: pieces are as long as the others are."""
_PURPOSES = (Purpose.INGEST, Purpose.REMOVE_DOCUMENT, Purpose.REMOVE_STRAYS, Purpose.REPAIR)


@dataclass(frozen=True, slots=True)
class Ingestion:
    """What works on documents."""

    ingest: IngestService
    removal: RemovalService
    repair: DocumentRepair

    def handlers(self) -> Mapping[Purpose, JobHandler]:
        """Return the worker's part."""
        return {
            Purpose.INGEST: self.ingest.run,
            Purpose.REMOVE_DOCUMENT: self.removal.run,
            Purpose.REPAIR: self.repair.run,
        }


def document_handlers(settings: Settings, reached: Stores) -> Mapping[Purpose, JobHandler]:
    """Return the worker's part."""
    index = index_of(settings)
    if index is None:
        return dict.fromkeys(_PURPOSES, disabled)
    handlers = ingestion(settings, reached, index, SqsJobQueue(settings.jobs_queue)).handlers()
    return {**handlers, **stray_handlers(reached, index)}


def ingestion(
    settings: Settings,
    reached: Stores,
    index: VectorIndex,
    queue: JobQueue,
    *,
    told: ReportProgress = lambda *_: None,
    slice_: timedelta = SLICE,
) -> Ingestion:
    """Build what works on documents. Nothing is connected to.

    Args:
        settings: of the deployment.
        reached: its stores.
        index: its index.
        queue: where work goes that follows from other work.
        told: is told of the progress.
        slice_: how long a job works before it queues itself again.
    """
    store, blobs = reached.corpus, reached.documents
    embedder = cached_embedder(settings, reached)
    versions = Versions(
        store=store, index=index, embedder=embedder, blobs=blobs, cut=_cutter(settings, embedder), clock=utc_now
    )
    sitemaps = Sitemaps(store=store, blobs=blobs, queue=queue, clock=utc_now)
    ingest = IngestService(
        store=store,
        blobs=blobs,
        sources=_sources(settings, reached),
        versions=versions,
        sitemaps=sitemaps,
        queue=queue,
        clock=utc_now,
        told=told,
        slice=slice_,
    )
    removal = RemovalService(store=store, blobs=blobs, versions=versions, sitemaps=sitemaps, clock=utc_now)
    repair = DocumentRepair(store=store, versions=versions, queue=queue, clock=utc_now, slice=slice_)
    return Ingestion(ingest, removal, repair)


def _sources(settings: Settings, reached: Stores) -> Sources:
    def web(wanted: Wanted) -> WebDocumentFetcher:
        return WebDocumentFetcher(allow_loopback=settings.docs_allow_loopback, network=_PATIENT, wanted=wanted)

    return Sources(
        pages=web(PAGE), files=web(DOCUMENTS), sitemaps=web(SITEMAP), reader=PageText(), blobs=reached.documents
    )


def bounds_of(settings: Settings) -> Bounds:
    """Return how long pieces are, in tokens as the embedder counts them."""
    return Bounds() if settings.embedder == "local" else _BYTES


def _cutter(settings: Settings, embedder: CachedEmbedder) -> Chunker:
    bounds = bounds_of(settings)
    return lambda text, language: chunk(text, embedder.count, bounds, language)


def disabled(_scope: Scope, _job: Job) -> None:
    """Do what a deployment without an index does with work on it: refuse."""
    raise FencepostError(ErrorCode.RETRIEVAL_DISABLED)
