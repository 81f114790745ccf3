"""The jobs function: everything that is done after an answer, or takes too long for a request."""

from __future__ import annotations

import os
from collections.abc import Mapping

from fencepost.access.service import Authorizer
from fencepost.bootstrap.answers import answers
from fencepost.bootstrap.corpus import document_handlers
from fencepost.bootstrap.erasing import erase_handlers, erase_service
from fencepost.bootstrap.identity import directory, site_service
from fencepost.bootstrap.remembering import message_entries, remember_handlers
from fencepost.bootstrap.storage import storage
from fencepost.bootstrap.stores import Stores, stores
from fencepost.identity.service import SiteService
from fencepost.jobs.handlers.batches import BatchHandler, idle
from fencepost.jobs.handlers.consumer import JobQueueConsumer
from fencepost.jobs.service.runner import JobHandler, JobRunner
from fencepost.kernel.aws.secrets import SecretKeys
from fencepost.kernel.clock import utc_now
from fencepost.kernel.ports import Keys
from fencepost.memory.service.facts import FactProposals
from fencepost.memory.service.summaries import SummaryService
from fencepost.memory.service.titles import TitleService
from fencepost.model.service import paid
from fencepost.observability.ports import RequestLog
from fencepost.observability.powertools.log import LambdaEvents, silence_libraries
from fencepost.queue.domain import Purpose
from fencepost.queue.sqs import SqsRetryQueue
from fencepost.settings import Settings, load_settings


def jobs_handler() -> BatchHandler:
    """Build the worker from the environment.

    Nothing is connected to, and the model's SDK waits for the first job that asks the model, unless a snapshot is
    taken of the process.

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


def _runner(settings: Settings, keys: Keys, log: RequestLog) -> JobRunner:
    known, reached = directory(settings), stores(settings, log)
    sites, entries = site_service(settings, known), message_entries(settings, reached)
    return JobRunner(
        handlers={
            **_memory(settings, reached, keys, sites, log),
            **remember_handlers(settings, reached, entries, sites),
            **storage(reached, keys, sites, entries).handlers(),
            **document_handlers(settings, reached),
            **erase_handlers(erase_service(reached, entries.index if entries else None, keys, log)),
        },
        decide=Authorizer(keys, log, at="job"),
        directory=known,
        conversations=reached.conversations,
        jobs=reached.jobs,
        keys=keys,
        events=log,
        clock=utc_now,
    )


def _memory(
    settings: Settings, reached: Stores, keys: Keys, sites: SiteService, log: RequestLog
) -> Mapping[Purpose, JobHandler]:
    conversations, memory, jobs = reached.conversations, reached.memory, reached.jobs
    ask = paid(answers(settings, keys, log).paid, keys)
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
