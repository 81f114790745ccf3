"""The chat function: `POST /api/ai-chat` and `POST /v1/chat`."""

from __future__ import annotations

import os

from fencepost.bootstrap.answers import Answers, answers
from fencepost.bootstrap.front import Front, front
from fencepost.bootstrap.recalling import turn_recall
from fencepost.bootstrap.stores import stores
from fencepost.bootstrap.turns import turn_service
from fencepost.http.cors import AnyOrigin, ListedOrigins
from fencepost.http.endpoint import ByResource, Endpoint, Handler
from fencepost.kernel.aws.secrets import SecretKeys
from fencepost.kernel.clock import utc_now
from fencepost.observability.dynamodb import DynamoDbAuditTrail
from fencepost.observability.ports import AuditTrail, RequestLog
from fencepost.observability.powertools.log import LambdaEvents, silence_libraries
from fencepost.settings import Settings, load_settings
from fencepost.turns.routes.stateless_chat import Chat, demo, post_only
from fencepost.turns.routes.turns import TurnRoutes
from fencepost.turns.service.stateless_chat import ChatService


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


def _chat(settings: Settings, log: RequestLog) -> Handler:
    keys = SecretKeys(
        settings.signing_secret, settings.provider_secret, settings.edge_secret, settings.api_key.get_secret_value()
    )
    before, made_with = front(settings, keys, log), answers(settings, keys, log)
    audit = DynamoDbAuditTrail(settings.audit_table, log)
    reached = stores(settings, log)
    recall = turn_recall(settings, reached, made_with, preload=True)
    turns = TurnRoutes(turn_service(reached, before, made_with, log, recall), utc_now)
    return ByResource(
        {
            "/api/ai-chat": _stateless(settings, before, made_with, log, audit),
            "/v1/chat": Endpoint(before.api(turns.routes()), before.origins, log, audit, utc_now),
        }
    )


def _stateless(settings: Settings, before: Front, made_with: Answers, log: RequestLog, audit: AuditTrail) -> Endpoint:
    cors = ListedOrigins(frozenset(settings.allowed_origins))
    service = ChatService(
        documents=made_with.documents(before.sites.defaults),
        composer=made_with.composer,
        paid=made_with.paid(before.sites.defaults),
        keys=before.keys,
        clock=utc_now,
    )
    route = Chat(cors, before.guard, service, before.keys.edge_secret)
    return Endpoint(post_only(route), cors, log, audit, utc_now)
