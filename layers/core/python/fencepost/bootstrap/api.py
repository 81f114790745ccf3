"""The API function: everything under `/v1` but `POST /v1/chat`."""

from __future__ import annotations

import os

from fencepost.adapters.dynamodb.audit import DynamoDbAuditTrail
from fencepost.adapters.masking import PowertoolsMasker
from fencepost.adapters.secrets import SecretKeys
from fencepost.bootstrap.answers import answers
from fencepost.bootstrap.clock import utc_now
from fencepost.bootstrap.documents import document_routes
from fencepost.bootstrap.erasing import erase_routes
from fencepost.bootstrap.front import Front, front
from fencepost.bootstrap.identity import administration
from fencepost.bootstrap.recalling import turn_recall
from fencepost.bootstrap.retrieval import index_of
from fencepost.bootstrap.storage import storage
from fencepost.bootstrap.stores import Stores, stores
from fencepost.bootstrap.turns import turn_service
from fencepost.edge.admin import AdminRoutes
from fencepost.edge.conversations import ConversationRoutes
from fencepost.edge.cors import AnyOrigin
from fencepost.edge.cursors import Cursors
from fencepost.edge.diagnostics import DiagnosticsRoutes
from fencepost.edge.endpoint import Endpoint, Handler
from fencepost.edge.events import LambdaEvents, silence_libraries
from fencepost.edge.facts import FactRoutes
from fencepost.edge.http import Request, Response
from fencepost.edge.router import Route, Router
from fencepost.edge.turns import TurnRoutes
from fencepost.edge.visitors import VisitorRoutes
from fencepost.ports import Events
from fencepost.services.conversations import ConversationService
from fencepost.services.diagnostics import DiagnosticsService
from fencepost.services.facts import FactService
from fencepost.services.trace import Trace
from fencepost.services.visitors import VisitorService
from fencepost.settings import Settings, load_settings


def api_handler() -> Handler:
    """Build the API's handler from the environment.

    Nothing is connected to, and no SDK is imported.

    Raises:
        InvalidSettings: a variable is wrong; the function then does not start.
    """
    settings = load_settings(os.environ)
    silence_libraries()
    log = LambdaEvents()
    if settings.demo_mode:
        return Endpoint(_nothing, AnyOrigin(), log, None, utc_now)
    keys = SecretKeys(
        settings.signing_secret, settings.provider_secret, settings.edge_secret, settings.api_key.get_secret_value()
    )
    before = front(settings, keys, log)
    api = before.api(api_routes(settings, before, log))
    return Endpoint(api, before.origins, log, DynamoDbAuditTrail(settings.audit_table, log), utc_now)


def api_routes(settings: Settings, before: Front, log: Events) -> tuple[Route, ...]:
    """Return every route of this function."""
    reached = stores(settings, log)
    return (
        *_visitors(before),
        *_conversations(reached, before),
        *_turns(settings, reached, before, log),
        *FactRoutes(FactService(reached.memory, before.sites, utc_now)).routes(),
        *erase_routes(reached, index_of(settings), before, log),
        *storage(reached, before.keys, before.sites).routes(),
        *document_routes(settings, reached, before),
        *AdminRoutes(administration(settings)).routes(),
        *_diagnostics(reached, before, log),
    )


def _nothing(request: Request, trace: Trace) -> Response:  # noqa: ARG001 - nothing is traced
    """The demo remembers nobody: there is nothing at any address."""
    Router(()).find(request.method, request.path)
    return Response("demo")


def _visitors(before: Front) -> tuple[Route, ...]:
    service = VisitorService(before.visitor_tokens, utc_now)
    return VisitorRoutes(service, before.sites, before.callers, before.origins).routes()


def _conversations(reached: Stores, before: Front) -> tuple[Route, ...]:
    service = ConversationService(reached.conversations, utc_now)
    return ConversationRoutes(service, Cursors(before.keys)).routes()


def _turns(settings: Settings, reached: Stores, before: Front, log: Events) -> tuple[Route, ...]:
    made_with = answers(settings, before.keys, log)
    recall = turn_recall(settings, reached, made_with)
    return TurnRoutes(turn_service(reached, before, made_with, log, recall), utc_now).routes()


def _diagnostics(reached: Stores, before: Front, log: Events) -> tuple[Route, ...]:
    service = DiagnosticsService(
        conversations=reached.conversations,
        diagnoses=reached.diagnoses,
        masker=PowertoolsMasker(),
        keys=before.keys,
        events=log,
        clock=utc_now,
    )
    return DiagnosticsRoutes(service, Cursors(before.keys)).routes()
