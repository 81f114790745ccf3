"""The API function: everything under `/v1` but `POST /v1/chat`."""

from __future__ import annotations

import os

from fencepost.access.routes import VisitorRoutes
from fencepost.access.service import VisitorService
from fencepost.bootstrap.stores import TenantStores, tenant_stores
from fencepost.bootstrap.wiring.attachments import attachment_service
from fencepost.bootstrap.wiring.conversations import conversation_store
from fencepost.bootstrap.wiring.documents import document_service
from fencepost.bootstrap.wiring.identity import layer_budgets
from fencepost.bootstrap.wiring.lifecycle import erase_service, export_service, import_service
from fencepost.bootstrap.wiring.memory import memory_store
from fencepost.bootstrap.wiring.retrieval import index_of
from fencepost.bootstrap.wiring.turns import answer_parts, turn_service
from fencepost.bootstrap.wiring.web import Ingress, ingress
from fencepost.conversations.ports import ConversationStore
from fencepost.conversations.routes.attachments import AttachmentRoutes
from fencepost.conversations.routes.conversations import ConversationRoutes
from fencepost.conversations.routes.messages import MessageRoutes
from fencepost.conversations.service.conversations import ConversationService
from fencepost.documents.routes import DocumentRoutes
from fencepost.http.cors import AnyOrigin
from fencepost.http.cursors import Cursors
from fencepost.http.endpoint import Endpoint, Handler
from fencepost.http.proxy import Request, Response
from fencepost.http.routing import Route, Router
from fencepost.identity.dynamodb.directory_admin import DynamoDbDirectoryAdmin
from fencepost.kernel.aws.secrets import SecretKeys
from fencepost.kernel.clock import utc_now
from fencepost.lifecycle.dynamodb.carry import DynamoDbCarryStore
from fencepost.lifecycle.dynamodb.diagnoses import DynamoDbDiagnoses
from fencepost.lifecycle.ports import CarryStore, DiagnosisStore
from fencepost.lifecycle.routes.carry import CarryRoutes
from fencepost.lifecycle.routes.diagnostics import DiagnosticsRoutes
from fencepost.lifecycle.routes.erase import EraseRoutes
from fencepost.lifecycle.routes.exports import ExportRoutes
from fencepost.lifecycle.routes.imports import ImportRoutes
from fencepost.lifecycle.service.carry import CarryService
from fencepost.lifecycle.service.diagnostics import DiagnosticsService
from fencepost.memory.routes import FactRoutes
from fencepost.memory.service.facts import FactService
from fencepost.observability.dynamodb.audit import DynamoDbAuditTrail
from fencepost.observability.ports import Events
from fencepost.observability.powertools.log import LambdaEvents, silence_libraries
from fencepost.observability.service import Trace
from fencepost.queue.sqs import SqsJobQueue
from fencepost.settings import Settings, load_settings
from fencepost.turns.routes.turns import RegenerateRoutes
from fencepost.web.admin.routes import AdminRoutes
from fencepost.web.admin.service import Administration


def api_handler() -> Handler:
    """Build the handler from the environment.

    Opens no connection and imports no SDK, unless a SnapStart snapshot is being taken.

    Raises:
        InvalidSettings: a variable is wrong; the function then does not start.
    """
    settings = load_settings(os.environ)
    silence_libraries()
    log = LambdaEvents()
    if settings.demo_mode:
        return Endpoint(_demo, AnyOrigin(), log, None, utc_now)
    keys = SecretKeys(
        settings.signing_secret, settings.provider_secret, settings.edge_secret, settings.api_key.get_secret_value()
    )
    before = ingress(settings, keys, log)
    api = before.api(api_routes(settings, before, log))
    return Endpoint(api, before.origins, log, DynamoDbAuditTrail(settings.audit_table, log), utc_now)


def api_routes(settings: Settings, before: Ingress, log: Events) -> tuple[Route, ...]:
    """Return every route of this function."""
    stores, keys, sites = tenant_stores(settings, log), before.keys, before.sites
    conversations = conversation_store(stores)
    visitors = VisitorService(before.visitor_tokens, utc_now)
    administration = Administration(DynamoDbDirectoryAdmin(settings.directory_table), layer_budgets(settings), utc_now)
    return (
        *VisitorRoutes(visitors, sites, before.callers, before.origins).routes(),
        *ConversationRoutes(ConversationService(conversations, utc_now), Cursors(keys)).routes(),
        *MessageRoutes(ConversationService(conversations, utc_now), Cursors(keys)).routes(),
        *RegenerateRoutes(turn_service(settings, stores, before, answer_parts(settings, keys, log), log)).routes(),
        *FactRoutes(FactService(memory_store(stores), sites, utc_now)).routes(),
        *EraseRoutes(erase_service(stores, index_of(settings), keys, log)).routes(),
        *CarryRoutes(_carry(stores, before, conversations)).routes(),
        *ExportRoutes(export_service(stores, keys), utc_now).routes(),
        *ImportRoutes(import_service(stores, keys, sites), utc_now).routes(),
        *AttachmentRoutes(attachment_service(stores), utc_now).routes(),
        *_documents(settings, stores, before).routes(),
        *AdminRoutes(administration).routes(),
        *_diagnostics(stores, before, conversations, log).routes(),
    )


def _demo(request: Request, trace: Trace) -> Response:  # noqa: ARG001 - nothing is traced
    """Answer as a deployment without routes: the demo stores nothing."""
    Router(()).find(request.method, request.path)
    return Response("demo")


def _carry(stores: TenantStores, before: Ingress, conversations: ConversationStore) -> CarryService:
    store: CarryStore = stores.build(lambda access: DynamoDbCarryStore(stores.table, stores.directory, access.dynamodb))
    return CarryService(
        conversations=conversations,
        memory=memory_store(stores),
        store=store,
        directory=before.directory,
        sites=before.sites,
        clock=utc_now,
        decide=before.decide,
    )


def _documents(settings: Settings, stores: TenantStores, before: Ingress) -> DocumentRoutes:
    service = document_service(stores, SqsJobQueue(settings.jobs_queue)) if settings.index != "none" else None

    def has_site(org: str, site: str) -> bool:
        return before.directory.site(org, site) is not None

    return DocumentRoutes(service, has_site, Cursors(before.keys), utc_now)


def _diagnostics(
    stores: TenantStores, before: Ingress, conversations: ConversationStore, log: Events
) -> DiagnosticsRoutes:
    diagnoses: DiagnosisStore = stores.build(lambda access: DynamoDbDiagnoses(stores.table, access.dynamodb))
    service = DiagnosticsService(
        conversations=conversations, diagnoses=diagnoses, keys=before.keys, events=log, clock=utc_now
    )
    return DiagnosticsRoutes(service, Cursors(before.keys))
