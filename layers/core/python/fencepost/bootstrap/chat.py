"""The chat function: `POST /api/ai-chat` and `POST /v1/chat`."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from fencepost.adapters.claude import Claude
from fencepost.adapters.dynamodb.audit import DynamoDbAuditTrail
from fencepost.adapters.dynamodb.client import dynamodb_client
from fencepost.adapters.dynamodb.ledger import DynamoDbLedger
from fencepost.adapters.dynamodb.limiter import DynamoDbAddressLimiter
from fencepost.adapters.fts import FullTextRanker
from fencepost.adapters.s3 import S3DocumentArchive
from fencepost.adapters.secrets import SecretKeys
from fencepost.adapters.web import WebDocumentFetcher
from fencepost.domain.assembly import Budgets
from fencepost.domain.prices import price_of
from fencepost.domain.screening import compile_patterns
from fencepost.domain.sections import split_document
from fencepost.edge.chat import Chat, demo, post_only
from fencepost.edge.cors import AnyOrigin, ListedOrigins
from fencepost.edge.endpoint import Endpoint, Handler, RequestLog
from fencepost.edge.events import LambdaEvents, silence_libraries
from fencepost.ports import Events, Keys
from fencepost.services.billing import Billing
from fencepost.services.chat import ChatService
from fencepost.services.composition import Composer
from fencepost.services.documents import DocumentLibrary
from fencepost.services.guard import AddressGuard
from fencepost.services.leasing import LeasingLedger
from fencepost.settings import Settings, load_settings


def chat_handler() -> Handler:
    """Build the chat's handler from the environment.

    Nothing is connected to. Neither AWS's nor the model's SDK is imported, unless a snapshot is taken of the process.

    Raises:
        InvalidSettings: a variable is wrong; the function then does not start.
    """
    settings = load_settings(os.environ)
    silence_libraries()
    log = LambdaEvents()
    return _demo(settings, log) if settings.demo_mode else _chat(settings, log)


def _demo(settings: Settings, log: RequestLog) -> Endpoint:
    return Endpoint(post_only(demo(settings.demo_reply)), AnyOrigin(), log, None, utc_now)


def _chat(settings: Settings, log: RequestLog) -> Endpoint:
    keys = SecretKeys(
        settings.signing_secret, settings.provider_secret, settings.edge_secret, settings.api_key.get_secret_value()
    )
    cors = ListedOrigins(frozenset(settings.allowed_origins))
    limiter = DynamoDbAddressLimiter(settings.limits_table, keys)
    guard = AddressGuard(limiter, settings.rate_limits, log, utc_now)
    route = Chat(cors, guard, _service(settings, keys, log), keys.edge_secret)
    return Endpoint(post_only(route), cors, log, DynamoDbAuditTrail(settings.audit_table, log), utc_now)


def _service(settings: Settings, keys: Keys, log: Events) -> ChatService:
    model = _model(settings, keys)
    if os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") == "snap-start":
        _warm(model)
    return ChatService(
        documents=_documents(settings, log),
        composer=_composer(settings, keys),
        billing=_billing(settings, log),
        model=model,
        keys=keys,
        clock=utc_now,
    )


def _model(settings: Settings, keys: Keys) -> Claude:
    return Claude(
        keys,
        model=settings.model,
        base_url=settings.base_url,
        connect_seconds=settings.connect_timeout_seconds,
        total_seconds=settings.provider_timeout_seconds,
    )


def _warm(model: Claude) -> None:
    """Import and make what every turn needs while a snapshot is taken, when nobody waits.

    A snapshot is restored many times over: nothing random is drawn here and no connection is opened.
    """
    dynamodb_client()
    model.preload()
    compile_patterns()


def _documents(settings: Settings, log: Events) -> DocumentLibrary:
    return DocumentLibrary(
        settings.docs_site_url,
        WebDocumentFetcher(allow_loopback=settings.docs_allow_loopback),
        S3DocumentArchive(settings.documents_bucket, log),
        split_document,
        log,
    )


def _composer(settings: Settings, keys: Keys) -> Composer:
    budgets = Budgets(
        documents_tokens=settings.documents_tokens,
        history_tokens=settings.history_tokens,
        max_output_tokens=settings.max_output_tokens,
    )
    return Composer(keys=keys, ranker=FullTextRanker(), budgets=budgets, unsigned=settings.unsigned_history)


def _billing(settings: Settings, log: Events) -> Billing:
    ledger = DynamoDbLedger(settings.ledger_table)
    return Billing(
        ledger=LeasingLedger(ledger, settings.ledger_block) if settings.ledger_block > 1 else ledger,
        price=price_of(settings.model),
        caps=settings.caps,
        events=log,
        clock=utc_now,
    )


def utc_now() -> datetime:
    """Return now: the `Clock` of a process."""
    return datetime.now(UTC)
