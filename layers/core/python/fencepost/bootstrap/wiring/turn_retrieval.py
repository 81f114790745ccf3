"""Wiring of retrieval during turns. Imported only where the deployment has an index."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.bootstrap.stores import TenantStores
from fencepost.bootstrap.wiring.conversations import conversation_store
from fencepost.bootstrap.wiring.documents import document_store
from fencepost.bootstrap.wiring.model import PaidModels
from fencepost.bootstrap.wiring.retrieval import embedder_of, index_of, local_embedder
from fencepost.documents.service.passages import DocumentPassages
from fencepost.identity.domain.sites import Site
from fencepost.jobs.service.orphans import OrphanQueue
from fencepost.kernel.clock import utc_now
from fencepost.kernel.concurrency import start_concurrently
from fencepost.limits.domain.prices import price_of, worst_case
from fencepost.limits.service.headroom import HeadroomLedger
from fencepost.memory.dynamodb.message_hits import DynamoDbMessageHits
from fencepost.memory.ports import MessageHits
from fencepost.memory.service.passages import MessagePassages
from fencepost.model.service import PaidModel
from fencepost.queue.sqs import SqsJobQueue
from fencepost.retrieval.domain.ranking.selection import FLOOR, chance
from fencepost.retrieval.service.retriever import Retriever
from fencepost.retrieval.service.rewriting import Rewriting
from fencepost.settings import Settings
from fencepost.turns.domain.assembly import most_tokens
from fencepost.turns.service.turn_retrieval import TurnRetrieval

_MILLISECONDS = 1_000


def turn_retrieval(
    settings: Settings, stores: TenantStores, models: PaidModels, *, preload: bool = False
) -> TurnRetrieval | None:
    """Build the retrieval of a turn's passages; None without an index. Opens no connection.

    Args:
        settings: settings of the deployment.
        stores: stores that the hits are hydrated from.
        models: pay for the rewriting of follow-ups where `followups` is `model`.
        preload: start to load a local embedder now, for functions whose first request is likely a turn.
    """
    index = index_of(settings)
    if index is None:
        return None
    if preload and settings.embedder == "local":
        start_concurrently(local_embedder().preload)
    conversations = conversation_store(stores)
    hits: MessageHits = stores.build(lambda access: DynamoDbMessageHits(stores.table, access.dynamodb))
    retriever = Retriever(
        index=index,
        embedder=embedder_of(settings),
        hydrators={
            "document": DocumentPassages(document_store(stores)),
            "message": MessagePassages(hits, conversations, utc_now),
        },
        enqueue_removal=OrphanQueue(SqsJobQueue(settings.jobs_queue), conversations, utc_now).enqueue_removal,
        chance=chance,
        floor=FLOOR,
        deadline=settings.retrieval_deadline_ms / _MILLISECONDS,
    )
    return TurnRetrieval(retriever, Rewriting(with_headroom(models)) if settings.followups == "model" else None)


def with_headroom(models: PaidModels) -> Callable[[Site], PaidModel]:
    """Return the models for calls that must leave room for one worst-case answer, on both ledgers."""

    def paid(site: Site) -> PaidModel:
        most = most_tokens(site.budgets, site.product_prompt)
        answer = worst_case(price_of(site.model), most, site.budgets.max_output_tokens)
        return models.paid(site, lambda ledger: HeadroomLedger(ledger, answer))

    return paid
