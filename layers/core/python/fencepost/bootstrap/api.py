"""The API function: everything under `/v1` but `POST /v1/chat`."""

from __future__ import annotations

import os

from fencepost.access.routes import VisitorRoutes
from fencepost.access.service import VisitorService
from fencepost.bootstrap.answers import answers
from fencepost.bootstrap.documents import document_routes
from fencepost.bootstrap.erasing import erase_routes
from fencepost.bootstrap.front import Front, front
from fencepost.bootstrap.identity import administration
from fencepost.bootstrap.recalling import turn_recall
from fencepost.bootstrap.retrieval import index_of
from fencepost.bootstrap.storage import storage
from fencepost.bootstrap.stores import Stores, stores
from fencepost.bootstrap.turns import turn_service
from fencepost.conversations.routes.conversations import ConversationRoutes
from fencepost.conversations.routes.messages import MessageRoutes
from fencepost.conversations.service.conversations import ConversationService
from fencepost.http.cors import AnyOrigin
from fencepost.http.cursors import Cursors
from fencepost.http.endpoint import Endpoint, Handler
from fencepost.http.proxy import Request, Response
from fencepost.http.routing import Route, Router
from fencepost.kernel.aws.secrets import SecretKeys
from fencepost.kernel.clock import utc_now
from fencepost.lifecycle.routes.diagnostics import DiagnosticsRoutes
from fencepost.lifecycle.service.diagnostics import DiagnosticsService
from fencepost.memory.routes import FactRoutes
from fencepost.memory.service.facts import FactService
from fencepost.observability.dynamodb import DynamoDbAuditTrail
from fencepost.observability.ports import Events
from fencepost.observability.powertools.log import LambdaEvents, silence_libraries
from fencepost.observability.service import Trace
from fencepost.settings import Settings, load_settings
from fencepost.turns.routes.turns import RegenerateRoutes
from fencepost.web.admin.routes import AdminRoutes


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
    cursors = Cursors(before.keys)
    return (*ConversationRoutes(service, cursors).routes(), *MessageRoutes(service, cursors).routes())


def _turns(settings: Settings, reached: Stores, before: Front, log: Events) -> tuple[Route, ...]:
    made_with = answers(settings, before.keys, log)
    recall = turn_recall(settings, reached, made_with)
    return RegenerateRoutes(turn_service(reached, before, made_with, log, recall)).routes()


def _diagnostics(reached: Stores, before: Front, log: Events) -> tuple[Route, ...]:
    service = DiagnosticsService(
        conversations=reached.conversations,
        diagnoses=reached.diagnoses,
        keys=before.keys,
        events=log,
        clock=utc_now,
    )
    return DiagnosticsRoutes(service, Cursors(before.keys)).routes()
