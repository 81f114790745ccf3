"""The whole API over fakes: every route of `/v1`, and somebody's conversation, facts and files to be asked about."""

from __future__ import annotations

from fencepost.conversations.routes.attachments import AttachmentRoutes
from fencepost.documents.routes import DocumentRoutes
from fencepost.documents.service.documents import DocumentService
from fencepost.http.cursors import Cursors
from fencepost.http.routing import Route
from fencepost.identity.domain.scope import OrgRole
from fencepost.identity.domain.sites import LayerBudgets
from fencepost.identity.service import SiteService
from fencepost.lifecycle.routes.carry import CarryRoutes
from fencepost.lifecycle.routes.diagnostics import DiagnosticsRoutes
from fencepost.lifecycle.routes.erase import EraseRoutes
from fencepost.lifecycle.routes.exports import ExportRoutes
from fencepost.lifecycle.routes.imports import ImportRoutes
from fencepost.lifecycle.service.carry import CarryService
from fencepost.lifecycle.service.diagnostics import DiagnosticsService
from fencepost.lifecycle.service.erase import EraseService
from fencepost.memory.routes import FactRoutes
from fencepost.memory.service.facts import FactService
from fencepost.turns.routes.turns import RegenerateRoutes, TurnRoutes
from fencepost.web.admin.routes import AdminRoutes
from fencepost.web.admin.service import Administration
from tests.fakes.carrying import FakeCarryStore
from tests.fakes.diagnoses import FakeDiagnoses
from tests.fakes.eraser import FakeEraser
from tests.worlds.api import DEFAULTS, ApiWorld
from tests.worlds.corpus import CorpusWorld
from tests.worlds.storage import StorageWorld
from tests.worlds.turn import TurnWorld


def whole_api() -> ApiWorld:
    """Return the API. `root` is an admin of `acme`; Ann and `u1` have said something there."""
    world = ApiWorld()
    world.directory.grant("acme", "root", OrgRole.ADMIN)
    turns = TurnWorld(clock=world.clock, events=world.events, directory=world.directory, shelf=world.store.shelf)
    storage = StorageWorld(clock=world.clock, shelf=world.store.shelf, directory=world.directory, keys=world.keys)
    service = turns.service()
    world.more_routes = (
        *TurnRoutes(service, world.clock).routes(),
        *RegenerateRoutes(service).routes(),
        *_stored(world, storage),
        *_administration(world),
        *documents(world, CorpusWorld(clock=world.clock)),
    )
    for scope in (world.scope(), world.member_scope("u1")):
        world.converse(scope, "c1", 3)
    return world


def _stored(world: ApiWorld, storage: StorageWorld) -> tuple[Route, ...]:
    sites = SiteService(world.directory, DEFAULTS)
    erase = EraseService(
        conversations=world.store,
        eraser=FakeEraser(),
        jobs=storage.jobs,
        keys=world.keys,
        events=world.events,
        clock=world.clock,
    )
    carry = CarryService(
        conversations=world.store,
        memory=storage.memory,
        store=FakeCarryStore(world.store, storage.memory, world.directory),
        directory=world.directory,
        sites=sites,
        clock=world.clock,
    )
    return (
        *FactRoutes(FactService(storage.memory, sites, world.clock)).routes(),
        *EraseRoutes(erase).routes(),
        *CarryRoutes(carry).routes(),
        *ExportRoutes(storage.exports, world.clock).routes(),
        *ImportRoutes(storage.imports, world.clock).routes(),
        *AttachmentRoutes(storage.attachments, world.clock).routes(),
    )


def _administration(world: ApiWorld) -> tuple[Route, ...]:
    diagnostics = DiagnosticsService(
        conversations=world.store,
        diagnoses=FakeDiagnoses(),
        keys=world.keys,
        events=world.events,
        clock=world.clock,
    )
    return (
        *AdminRoutes(Administration(world.directory.administered, LayerBudgets(), world.clock)).routes(),
        *DiagnosticsRoutes(diagnostics, Cursors(world.keys)).routes(),
    )


def documents(world: ApiWorld, corpus: CorpusWorld) -> tuple[Route, ...]:
    """Return the routes of documents, of which `c1` is one."""
    corpus.add("# Guide\n\nInstall it.", document_id="c1")
    service = DocumentService(store=corpus.store, blobs=corpus.blobs, queue=corpus.queue, clock=world.clock)
    sites = world.directory.sites
    return DocumentRoutes(service, lambda org, site: (org, site) in sites, Cursors(world.keys), world.clock).routes()
