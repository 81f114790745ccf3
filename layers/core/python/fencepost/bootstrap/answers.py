"""What every answer is made with, in whichever function: documents, prompts, and a model on the day's bill."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from fencepost.bootstrap.identity import layer_budgets
from fencepost.documents.domain.sections import split_document
from fencepost.documents.fetching.web import WebDocumentFetcher
from fencepost.documents.s3 import S3DocumentArchive
from fencepost.documents.service.llms_full_cache import LlmsFullCache
from fencepost.documents.sqlite import FullTextRanker
from fencepost.identity.domain.sites import Site
from fencepost.kernel.aws.legacy.client import dynamodb_client
from fencepost.kernel.clock import utc_now
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import MicroDollars
from fencepost.kernel.ports import Keys
from fencepost.limits.domain.prices import PRICES, price_of, worst_case
from fencepost.limits.dynamodb.ledger import DynamoDbLedger, site_account
from fencepost.limits.ports import Ledger
from fencepost.limits.service.block_leasing import BlockLeasingLedger
from fencepost.limits.service.headroom import HeadroomLedger
from fencepost.limits.service.site_caps import SiteLedger
from fencepost.model.anthropic.claude import Claude
from fencepost.model.service import Billing, PaidModel
from fencepost.observability.ports import Events
from fencepost.screening.domain.screen import compile_patterns
from fencepost.settings import Settings
from fencepost.turns.domain.assembly import most_tokens
from fencepost.turns.service.prompt_builder import PromptBuilder

_LIBRARIES = 8
"""Sites whose documents an instance keeps in memory: each may be some megabytes."""


@dataclass(frozen=True, slots=True)
class Answers:
    """One process's.

    Attributes:
        documents: the library of a site. Sites with the same address share one.
        paid: the model of a site, on the deployment's bill, and on the site's own where it has caps.
        sparing: the same, for calls that leave room on both bills for an answer.
    """

    composer: PromptBuilder
    documents: Callable[[Site], LlmsFullCache]
    paid: Callable[[Site], PaidModel]
    sparing: Callable[[Site], PaidModel]


def answers(settings: Settings, keys: Keys, log: Events) -> Answers:
    """Build them. Nothing is connected to, and no SDK is imported, unless a snapshot is taken of the process."""
    models = _models(settings, keys)
    if os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") == "snap-start":
        _warm(models(settings.model))
    paid, sparing = _paid(settings, models, log)
    return Answers(_composer(settings, keys), _documents(settings, log), paid, sparing)


def _warm(model: Claude) -> None:
    """Import and make what every turn needs while a snapshot is taken, when nobody waits.

    A snapshot is restored many times over: nothing random is drawn here and no connection is opened.
    """
    dynamodb_client()
    model.preload()
    compile_patterns()


def _composer(settings: Settings, keys: Keys) -> PromptBuilder:
    return PromptBuilder(
        keys=keys, ranker=FullTextRanker(), budgets=layer_budgets(settings), unsigned=settings.unsigned_history
    )


def _documents(settings: Settings, log: Events) -> Callable[[Site], LlmsFullCache]:
    @lru_cache(_LIBRARIES)
    def library(url: str) -> LlmsFullCache:
        fetcher = WebDocumentFetcher(allow_loopback=settings.docs_allow_loopback)
        return LlmsFullCache(url, fetcher, S3DocumentArchive(settings.llms_full_bucket, log), split_document, log)

    return lambda site: library(site.documents_url)


def _models(settings: Settings, keys: Keys) -> Callable[[str], Claude]:
    @lru_cache(None)
    def model(name: str) -> Claude:
        return Claude(
            keys,
            model=name,
            base_url=settings.base_url,
            connect_seconds=settings.connect_timeout_seconds,
            total_seconds=settings.provider_timeout_seconds,
        )

    return model


def _paid(
    settings: Settings, models: Callable[[str], Claude], log: Events
) -> tuple[Callable[[Site], PaidModel], Callable[[Site], PaidModel]]:
    store = DynamoDbLedger(settings.ledger_table)
    deployment = BlockLeasingLedger(store, settings.ledger_block) if settings.ledger_block > 1 else store

    def paid(site: Site, kept: Callable[[Ledger], Ledger] = lambda ledger: ledger) -> PaidModel:
        if site.model not in PRICES:
            raise FencepostError(ErrorCode.MISCONFIGURED)
        ledger, price = _ledger(settings, deployment, site, kept), price_of(site.model)
        billing = Billing(ledger=ledger, price=price, caps=settings.caps, events=log, clock=utc_now)
        return PaidModel(site.model, models(site.model), billing)

    return paid, lambda site: paid(site, lambda ledger: HeadroomLedger(ledger, _answer(site)))


def _ledger(settings: Settings, deployment: Ledger, site: Site, kept: Callable[[Ledger], Ledger]) -> Ledger:
    if site.caps is None:
        return kept(deployment)
    own = DynamoDbLedger(settings.ledger_table, account=site_account(site.org, site.id))
    return SiteLedger(kept(deployment), kept(own), site.caps)


def _answer(site: Site) -> MicroDollars:
    """Return what an answer may cost, whatever its prompt holds."""
    most = most_tokens(site.budgets, site.product_prompt)
    return worst_case(price_of(site.model), most, site.budgets.max_output_tokens)
