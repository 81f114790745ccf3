"""The schedule function: what is due, and what has come apart, without anybody asking."""

from __future__ import annotations

import os

from fencepost.bootstrap.retrieval import embedder_of, index_of
from fencepost.bootstrap.stores import Stores, stores
from fencepost.documents.dynamodb.documents import DynamoDbDueDocuments
from fencepost.jobs.dynamodb.registry import DynamoDbOrganisationRegistry
from fencepost.jobs.handlers.schedule import Schedule, ScheduleHandler, idle
from fencepost.jobs.service.due_documents import DueDocuments
from fencepost.jobs.service.index_diff import DiffSources
from fencepost.jobs.service.reconciler import Reconciler
from fencepost.kernel.clock import utc_now
from fencepost.observability.powertools.log import LambdaEvents, silence_libraries
from fencepost.queue.ports import JobQueue
from fencepost.queue.sqs import SqsJobQueue
from fencepost.retrieval.ports import VectorIndex
from fencepost.settings import Settings, load_settings


def schedule_handler() -> ScheduleHandler:
    """Build the schedule from the environment. Nothing is connected to.

    Raises:
        InvalidSettings: a variable is wrong; the function then does not start.
    """
    settings = load_settings(os.environ)
    silence_libraries()
    index = None if settings.demo_mode else index_of(settings)
    if index is None:
        return idle
    log = LambdaEvents()
    reached, queue = stores(settings, log), SqsJobQueue(settings.jobs_queue)
    due = DueDocuments(
        agenda=DynamoDbDueDocuments(settings.corpus_table), store=reached.corpus, queue=queue, clock=utc_now
    )
    return Schedule(due.run, _reconciler(settings, reached, index, queue).run, log)


def _reconciler(settings: Settings, reached: Stores, index: VectorIndex, queue: JobQueue) -> Reconciler:
    sides = DiffSources(
        index=index,
        corpus=reached.corpus,
        conversations=reached.conversations,
        parts=reached.parts,
        remembered=reached.remembered,
        messages=reached.message_hits,
        model=embedder_of(settings).model.name,
        clock=utc_now,
    )
    roll = DynamoDbOrganisationRegistry(settings.directory_table)
    return Reconciler(registry=roll, store=reached.reconciling, sources=sides, queue=queue, clock=utc_now)
