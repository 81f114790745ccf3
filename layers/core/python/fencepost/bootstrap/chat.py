"""The chat function: `POST /api/ai-chat` and `POST /v1/chat`."""

from __future__ import annotations

import os

from fencepost.bootstrap.stores import tenant_stores
from fencepost.bootstrap.wiring.turns import AnswerParts, answer_parts, turn_service
from fencepost.bootstrap.wiring.web import Ingress, ingress
from fencepost.http.cors import AnyOrigin, ListedOrigins
from fencepost.http.endpoint import ByResource, Endpoint, Handler
from fencepost.kernel.aws.secrets import SecretKeys
from fencepost.kernel.clock import utc_now
from fencepost.observability.dynamodb.audit import DynamoDbAuditTrail
from fencepost.observability.ports import AuditTrail, RequestLog
from fencepost.observability.powertools.log import LambdaEvents, silence_libraries
from fencepost.settings import Settings, load_settings
from fencepost.turns.routes.stateless_chat import Chat, demo, post_only
from fencepost.turns.routes.turns import TurnRoutes
from fencepost.turns.service.stateless_chat import ChatService


def chat_handler() -> Handler:
    """Build the handler from the environment.

    Opens no connection. Imports neither the AWS SDK nor the model's SDK, unless a SnapStart snapshot is being taken.

    Raises:
        InvalidSettings: a variable is wrong; the function then does not start.
    """
    settings = load_settings(os.environ)
    silence_libraries()
    log = LambdaEvents()
    if settings.demo_mode:
        return Endpoint(post_only(demo(settings.demo_reply)), AnyOrigin(), log, None, utc_now)
    keys = SecretKeys(
        settings.signing_secret, settings.provider_secret, settings.edge_secret, settings.api_key.get_secret_value()
    )
    before, parts = ingress(settings, keys, log), answer_parts(settings, keys, log)
    audit = DynamoDbAuditTrail(settings.audit_table, log)
    stores = tenant_stores(settings, log)
    turns = TurnRoutes(turn_service(settings, stores, before, parts, log, preload_embedder=True), utc_now)
    return ByResource(
        {
            "/api/ai-chat": _stateless(settings, before, parts, log, audit),
            "/v1/chat": Endpoint(before.api(turns.routes()), before.origins, log, audit, utc_now),
        }
    )


def _stateless(settings: Settings, before: Ingress, parts: AnswerParts, log: RequestLog, audit: AuditTrail) -> Endpoint:
    cors = ListedOrigins(frozenset(settings.allowed_origins))
    service = ChatService(
        documents=parts.documents(before.sites.defaults),
        prompt_builder=parts.prompts,
        paid=parts.models.paid(before.sites.defaults),
        keys=before.keys,
        clock=utc_now,
    )
    route = Chat(cors, before.guard, service, before.keys.edge_secret)
    return Endpoint(post_only(route), cors, log, audit, utc_now)
