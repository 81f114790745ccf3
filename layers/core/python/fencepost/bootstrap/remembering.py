"""What keeps messages in the index, in the jobs function; nothing of it where there is no index."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.bootstrap.corpus import bounds_of, disabled
from fencepost.bootstrap.retrieval import embedder_of, index_of
from fencepost.bootstrap.stores import Stores
from fencepost.identity.service import SiteService
from fencepost.jobs.service.runner import JobHandler
from fencepost.kernel.clock import utc_now
from fencepost.memory.domain.message_chunks import spans
from fencepost.memory.service.message_entries import MessageEntries
from fencepost.memory.service.remember import RememberService
from fencepost.queue.domain import Purpose
from fencepost.queue.sqs import SqsJobQueue
from fencepost.settings import Settings


def message_entries(settings: Settings, reached: Stores) -> MessageEntries | None:
    """Return what the index holds of conversations; None where there is no index. Nothing is connected to."""
    index = index_of(settings)
    return MessageEntries(reached.parts, index) if index else None


def remember_handlers(
    settings: Settings, reached: Stores, entries: MessageEntries | None, sites: SiteService
) -> Mapping[Purpose, JobHandler]:
    """Return the worker's part. An embedder is loaded with the first message that it embeds."""
    if entries is None:
        return {Purpose.REMEMBER: disabled}
    embedder, bounds = embedder_of(settings), bounds_of(settings)
    service = RememberService(
        conversations=reached.conversations,
        entries=entries,
        embedder=embedder,
        jobs=reached.jobs,
        queue=SqsJobQueue(settings.jobs_queue),
        sites=sites,
        cut=lambda text: spans(text, embedder.count, bounds),
        clock=utc_now,
    )
    return {Purpose.REMEMBER: service.run}
