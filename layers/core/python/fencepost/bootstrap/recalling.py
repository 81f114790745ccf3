"""What finds passages for turns, where the deployment has an index."""

from __future__ import annotations

from fencepost.bootstrap.answers import Answers
from fencepost.bootstrap.retrieval import embedder_of, index_of
from fencepost.bootstrap.stores import Stores
from fencepost.documents.service.indexing import DocumentRows
from fencepost.documents.service.passages import DocumentPassages
from fencepost.jobs.service.orphans import OrphanQueue, OrphanRemoval
from fencepost.jobs.service.runner import JobHandler
from fencepost.kernel.clock import utc_now
from fencepost.kernel.concurrency import start_concurrently
from fencepost.memory.service.passages import MessagePassages
from fencepost.queue.domain import Purpose
from fencepost.queue.sqs import SqsJobQueue
from fencepost.retrieval.domain.ranking.selection import FLOOR, chance
from fencepost.retrieval.local_embedder import LocalEmbedder
from fencepost.retrieval.ports import VectorIndex
from fencepost.retrieval.service.retriever import Retriever
from fencepost.retrieval.service.rewriting import Rewriting
from fencepost.settings import Settings
from fencepost.turns.service.turn_retrieval import TurnRetrieval

_MILLISECONDS = 1_000


def turn_recall(
    settings: Settings, reached: Stores, made_with: Answers, *, preload: bool = False
) -> TurnRetrieval | None:
    """Return it; None where there is no index. Nothing is connected to.

    Args:
        made_with: what pays for a follow-up's rewriting, where the settings ask for that.
        preload: begin to load an embedder that is on this machine, for whoever answers most turns.
    """
    index = index_of(settings)
    if index is None:
        return None
    embedder = embedder_of(settings)
    if preload and isinstance(embedder, LocalEmbedder):
        start_concurrently(embedder.preload)
    recall = Retriever(
        index=index,
        embedder=embedder,
        hydrators={
            "document": DocumentPassages(reached.corpus),
            "message": MessagePassages(reached.message_hits, reached.conversations, utc_now),
        },
        enqueue_removal=OrphanQueue(SqsJobQueue(settings.jobs_queue), reached.conversations, utc_now).enqueue_removal,
        chance=chance,
        floor=FLOOR,
        deadline=settings.retrieval_deadline_ms / _MILLISECONDS,
    )
    return TurnRetrieval(recall, Rewriting(made_with.sparing) if settings.followups == "model" else None)


def stray_handlers(reached: Stores, index: VectorIndex) -> dict[Purpose, JobHandler]:
    """Return the worker's part."""
    removal = OrphanRemoval(DocumentRows(reached.corpus, index), reached.conversations, utc_now)
    return {Purpose.REMOVE_STRAYS: removal.run}
