"""The jobs function: work that follows an answer or takes too long for a request."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.access.service import Authorizer
from fencepost.bootstrap.stores import TenantStores, tenant_stores
from fencepost.bootstrap.wiring.attachments import attachment_service
from fencepost.bootstrap.wiring.conversations import conversation_store, job_store
from fencepost.bootstrap.wiring.identity import directory, site_service
from fencepost.bootstrap.wiring.lifecycle import erase_service, export_service, import_service
from fencepost.bootstrap.wiring.memory import memory_store, message_chunk_store
from fencepost.bootstrap.wiring.model import paid_models
from fencepost.bootstrap.wiring.retrieval import embedder_of, index_of
from fencepost.identity.domain.scope import Scope
from fencepost.identity.service import SiteService
from fencepost.jobs.handlers.batches import BatchHandler, idle
from fencepost.jobs.handlers.consumer import JobQueueConsumer
from fencepost.jobs.service.runner import JobHandler, JobRunner
from fencepost.kernel.aws.secrets import SecretKeys
from fencepost.kernel.clock import utc_now
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Keys
from fencepost.lifecycle.dynamodb.archive import DynamoDbArchive
from fencepost.lifecycle.ports import ArchiveStore
from fencepost.lifecycle.service.archive import ArchiveService
from fencepost.lifecycle.service.retention import RetentionService
from fencepost.memory.service.facts import FactProposals
from fencepost.memory.service.message_entries import MessageEntries
from fencepost.memory.service.summaries import SummaryService
from fencepost.memory.service.titles import TitleService
from fencepost.model.service import paid
from fencepost.observability.ports import RequestLog
from fencepost.observability.powertools.log import LambdaEvents, silence_libraries
from fencepost.queue.domain import Job, Purpose
from fencepost.queue.sqs import SqsJobQueue, SqsRetryQueue
from fencepost.retrieval.ports import VectorIndex
from fencepost.settings import Settings, load_settings

_NEED_AN_INDEX = (
    Purpose.REMEMBER,
    Purpose.INGEST,
    Purpose.REMOVE_DOCUMENT,
    Purpose.REMOVE_STRAYS,
    Purpose.REPAIR,
)


def jobs_handler() -> BatchHandler:
    """Build the handler from the environment.

    Opens no connection. The model's SDK is imported by the first job that calls the model, unless a SnapStart snapshot
    is being taken.

    Raises:
        InvalidSettings: a variable is wrong; the function then does not start.
    """
    settings = load_settings(os.environ)
    silence_libraries()
    if settings.demo_mode:
        return idle
    log = LambdaEvents()
    keys = SecretKeys(settings.signing_secret, settings.provider_secret, "", settings.api_key.get_secret_value())
    return JobQueueConsumer(_runner(settings, keys, log), SqsRetryQueue(settings.jobs_queue), log)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of the process that several kinds of jobs share."""

    settings: Settings
    stores: TenantStores
    keys: Keys
    sites: SiteService
    log: RequestLog


def _runner(settings: Settings, keys: Keys, log: RequestLog) -> JobRunner:
    known, stores, index = directory(settings), tenant_stores(settings, log), index_of(settings)
    parts = _Parts(settings, stores, keys, site_service(settings, known), log)
    entries = MessageEntries(message_chunk_store(stores), index) if index else None
    indexing = _indexing(parts, index, entries) if index and entries else dict.fromkeys(_NEED_AN_INDEX, _disabled)
    return JobRunner(
        handlers={**_memory(parts), **_lifecycle(parts, index, entries), **indexing},
        decide=Authorizer(keys, log, at="job"),
        directory=known,
        conversations=conversation_store(stores),
        jobs=job_store(stores),
        keys=keys,
        events=log,
        clock=utc_now,
    )


def _memory(parts: _Parts) -> Mapping[Purpose, JobHandler]:
    stores, sites = parts.stores, parts.sites
    conversations, memory, jobs = conversation_store(stores), memory_store(stores), job_store(stores)
    ask = paid(paid_models(parts.settings, parts.keys, parts.log).paid, parts.keys)
    summaries = SummaryService(
        conversations=conversations, memory=memory, jobs=jobs, sites=sites, ask=ask, clock=utc_now
    )
    proposals = FactProposals(
        conversations=conversations, memory=memory, jobs=jobs, sites=sites, ask=ask, clock=utc_now
    )
    return {
        Purpose.TITLE: TitleService(conversations, memory).run,
        Purpose.SUMMARISE: summaries.run,
        Purpose.PROPOSE_FACTS: proposals.run,
    }


def _lifecycle(
    parts: _Parts, index: VectorIndex | None, entries: MessageEntries | None
) -> Mapping[Purpose, JobHandler]:
    stores, keys = parts.stores, parts.keys
    store: ArchiveStore = stores.build(
        lambda access: DynamoDbArchive(stores.table, stores.blobs_of(access), access.dynamodb)
    )
    archive = ArchiveService(
        archive=store,
        blobs=stores.blobs,
        sites=parts.sites,
        retention=RetentionService(store, memory_store(stores), stores.blobs, entries),
        clock=utc_now,
    )
    return {
        Purpose.EXPORT: export_service(stores, keys).run,
        Purpose.IMPORT: import_service(stores, keys, parts.sites).run,
        Purpose.ARCHIVE: archive.run,
        Purpose.SCAN_ATTACHMENT: attachment_service(stores).run,
        Purpose.ERASE: erase_service(stores, index, keys, parts.log).run,
    }


def _indexing(parts: _Parts, index: VectorIndex, entries: MessageEntries) -> Mapping[Purpose, JobHandler]:
    """Return the handlers of documents' and messages' entries in the index."""
    from fencepost.bootstrap.wiring.documents import document_store
    from fencepost.bootstrap.wiring.ingestion import chunk_bounds, ingestion
    from fencepost.documents.service.indexing import DocumentRows
    from fencepost.jobs.service.orphans import OrphanRemoval
    from fencepost.memory.domain.message_chunks import spans
    from fencepost.memory.service.remember import RememberService

    settings, stores, queue = parts.settings, parts.stores, SqsJobQueue(parts.settings.jobs_queue)
    conversations, embedder, bounds = conversation_store(stores), embedder_of(settings), chunk_bounds(settings)
    remember = RememberService(
        conversations=conversations,
        entries=entries,
        embedder=embedder,
        jobs=job_store(stores),
        queue=queue,
        sites=parts.sites,
        chunker=lambda text: spans(text, embedder.count, bounds),
        clock=utc_now,
    )
    orphans = OrphanRemoval(DocumentRows(document_store(stores), index), conversations, utc_now)
    return {
        Purpose.REMEMBER: remember.run,
        Purpose.REMOVE_STRAYS: orphans.run,
        **ingestion(settings, stores, index, queue).handlers(),
    }


def _disabled(_scope: Scope, _job: Job) -> None:
    """Refuse a job on the index of a deployment that has none."""
    raise FencepostError(ErrorCode.RETRIEVAL_DISABLED)
