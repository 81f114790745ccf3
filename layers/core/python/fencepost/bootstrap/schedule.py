"""The schedule function: queues documents that are due, and repairs differences between the tables and the index."""

from __future__ import annotations

import os

from fencepost.bootstrap.stores import TenantStores, tenant_stores
from fencepost.bootstrap.wiring.conversations import conversation_store
from fencepost.bootstrap.wiring.documents import document_store
from fencepost.bootstrap.wiring.memory import message_chunk_store
from fencepost.bootstrap.wiring.retrieval import embedder_of, index_of
from fencepost.documents.dynamodb.documents import DynamoDbDueDocuments
from fencepost.jobs.dynamodb.reconciler import DynamoDbReconcileStore
from fencepost.jobs.dynamodb.registry import DynamoDbOrganisationRegistry
from fencepost.jobs.handlers.schedule import Schedule, ScheduleHandler, idle
from fencepost.jobs.ports import ReconcileStore
from fencepost.jobs.service.due_documents import DueDocuments
from fencepost.jobs.service.index_diff import DiffSources
from fencepost.jobs.service.reconciler import Reconciler
from fencepost.kernel.clock import utc_now
from fencepost.memory.dynamodb.chunks import DynamoDbRememberedConversations
from fencepost.memory.dynamodb.message_hits import DynamoDbMessageHits
from fencepost.memory.ports import MessageHits, RememberedConversations
from fencepost.observability.powertools.log import LambdaEvents, silence_libraries
from fencepost.queue.ports import JobQueue
from fencepost.queue.sqs import SqsJobQueue
from fencepost.retrieval.ports import VectorIndex
from fencepost.settings import Settings, load_settings


def schedule_handler() -> ScheduleHandler:
    """Build the handler from the environment. Opens no connection.

    Raises:
        InvalidSettings: a variable is wrong; the function then does not start.
    """
    settings = load_settings(os.environ)
    silence_libraries()
    index = None if settings.demo_mode else index_of(settings)
    if index is None:
        return idle
    log = LambdaEvents()
    stores, queue = tenant_stores(settings, log), SqsJobQueue(settings.jobs_queue)
    due = DueDocuments(
        agenda=DynamoDbDueDocuments(settings.corpus_table), store=document_store(stores), queue=queue, clock=utc_now
    )
    return Schedule(due.run, _reconciler(settings, stores, index, queue).run, log)


def _reconciler(settings: Settings, stores: TenantStores, index: VectorIndex, queue: JobQueue) -> Reconciler:
    remembered: RememberedConversations = stores.build(
        lambda access: DynamoDbRememberedConversations(stores.table, access.dynamodb)
    )
    hits: MessageHits = stores.build(lambda access: DynamoDbMessageHits(stores.table, access.dynamodb))
    progress: ReconcileStore = stores.build(lambda access: DynamoDbReconcileStore(stores.corpus_table, access.dynamodb))
    sides = DiffSources(
        index=index,
        corpus=document_store(stores),
        conversations=conversation_store(stores),
        parts=message_chunk_store(stores),
        remembered=remembered,
        messages=hits,
        model=embedder_of(settings).model.name,
        clock=utc_now,
    )
    roll = DynamoDbOrganisationRegistry(settings.directory_table)
    return Reconciler(registry=roll, store=progress, sources=sides, queue=queue, clock=utc_now)
