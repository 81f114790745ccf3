"""Wiring of turns and of the prompt builder, for the functions that answer questions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from fencepost.bootstrap.stores import TenantStores
from fencepost.bootstrap.wiring.conversations import conversation_store
from fencepost.bootstrap.wiring.identity import layer_budgets
from fencepost.bootstrap.wiring.model import PaidModels, is_snapshot, paid_models
from fencepost.bootstrap.wiring.web import Ingress
from fencepost.conversations.domain.attachments import AttachedText
from fencepost.documents.domain.sections import split_document
from fencepost.documents.fetching.web import WebDocumentFetcher
from fencepost.documents.s3 import S3DocumentArchive
from fencepost.documents.service.llms_full_cache import LlmsFullCache
from fencepost.documents.sqlite import FullTextRanker
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import Site
from fencepost.kernel.clock import utc_now
from fencepost.kernel.ports import Keys
from fencepost.observability.ports import Events
from fencepost.screening.domain.screen import compile_patterns
from fencepost.settings import Settings
from fencepost.turns.dynamodb.turns import DynamoDbTurnStore
from fencepost.turns.ports import TurnStore
from fencepost.turns.service.claiming import ConversationLeases
from fencepost.turns.service.prompt_builder import PromptBuilder
from fencepost.turns.service.turns import TurnService

_CACHED_SITES = 8
"""Sites whose documents an instance keeps in memory; each may take some megabytes."""


@dataclass(frozen=True, slots=True)
class AnswerParts:
    """The parts of a process that every answer is made with, stored in a conversation or not.

    Attributes:
        documents: returns the llms-full cache of a site; sites with the same address share one.
    """

    prompts: PromptBuilder
    documents: Callable[[Site], LlmsFullCache]
    models: PaidModels


def answer_parts(settings: Settings, keys: Keys, log: Events) -> AnswerParts:
    """Build the parts. Opens no connection and imports no SDK, unless a SnapStart snapshot is being taken."""

    @lru_cache(_CACHED_SITES)
    def cache(url: str) -> LlmsFullCache:
        fetcher = WebDocumentFetcher(allow_loopback=settings.docs_allow_loopback)
        return LlmsFullCache(url, fetcher, S3DocumentArchive(settings.llms_full_bucket, log), split_document, log)

    models = paid_models(settings, keys, log)
    if is_snapshot():
        compile_patterns()
    prompts = PromptBuilder(
        keys=keys, ranker=FullTextRanker(), budgets=layer_budgets(settings), unsigned=settings.unsigned_history
    )
    return AnswerParts(prompts, lambda site: cache(site.documents_url), models)


def turn_service(
    settings: Settings,
    stores: TenantStores,
    ingress: Ingress,
    parts: AnswerParts,
    log: Events,
    *,
    preload_embedder: bool = False,
) -> TurnService:
    """Build the turn service, with retrieval where the deployment has an index. Opens no connection.

    Args:
        settings: settings of the deployment.
        stores: its stores.
        ingress: supplies callers' sites and authorisation.
        parts: supply prompts, documents and models.
        log: receives the events of leases.
        preload_embedder: start to load a local embedder now, for functions whose first request is likely a turn.
    """
    retrieval = None
    if settings.index != "none":
        from fencepost.bootstrap.wiring.turn_retrieval import turn_retrieval

        retrieval = turn_retrieval(settings, stores, parts.models, preload=preload_embedder)
    store: TurnStore = stores.build(
        lambda access: DynamoDbTurnStore(stores.table, stores.directory, stores.blobs_of(access), access.dynamodb)
    )
    return TurnService(
        store=store,
        leases=ConversationLeases(store=store, events=log, keys=ingress.keys, clock=utc_now, pause=time.sleep),
        prompt_builder=parts.prompts,
        documents=parts.documents,
        paid=parts.models.paid,
        attached=_attached_texts(stores),
        conversations=conversation_store(stores),
        directory=ingress.directory,
        sites=ingress.sites,
        keys=ingress.keys,
        clock=utc_now,
        decide=ingress.decide,
        decide_again=replace(ingress.decide, at="turn"),
        recall=retrieval,
    )


def _attached_texts(stores: TenantStores) -> Callable[[Scope, Sequence[str]], Sequence[AttachedText]]:
    def texts(scope: Scope, ids: Sequence[str]) -> Sequence[AttachedText]:
        # Few questions bring files: the readers are imported with the first that does.
        from fencepost.bootstrap.wiring.attachments import attachment_service

        return attachment_service(stores).texts(scope, ids)

    return texts
