"""Wiring of exports, imports and erasures: the API accepts them, the jobs function carries them out."""

from __future__ import annotations

from fencepost.bootstrap.stores import TenantStores
from fencepost.bootstrap.wiring.conversations import conversation_store, job_store
from fencepost.bootstrap.wiring.memory import memory_store
from fencepost.identity.service import SiteService
from fencepost.kernel.clock import utc_now
from fencepost.kernel.ports import Keys
from fencepost.lifecycle.dynamodb.eraser import DynamoDbEraser
from fencepost.lifecycle.dynamodb.imports import DynamoDbImports
from fencepost.lifecycle.ports import Eraser, ImportStore
from fencepost.lifecycle.service.erase import EraseService
from fencepost.lifecycle.service.exports import ExportService
from fencepost.lifecycle.service.imports import ImportService
from fencepost.lifecycle.service.vector_erasure import VectorEraser
from fencepost.observability.ports import Events
from fencepost.retrieval.ports import VectorIndex


def export_service(stores: TenantStores, keys: Keys) -> ExportService:
    """Return the export service. Opens no connection."""
    return ExportService(
        conversations=conversation_store(stores),
        memory=memory_store(stores),
        blobs=stores.blobs,
        jobs=job_store(stores),
        keys=keys,
        clock=utc_now,
    )


def import_service(stores: TenantStores, keys: Keys, sites: SiteService) -> ImportService:
    """Return the import service. Opens no connection."""
    imports: ImportStore = stores.build(
        lambda access: DynamoDbImports(stores.table, stores.blobs_of(access), access.dynamodb)
    )
    return ImportService(
        conversations=conversation_store(stores),
        imports=imports,
        memory=memory_store(stores),
        blobs=stores.blobs,
        jobs=job_store(stores),
        sites=sites,
        keys=keys,
        clock=utc_now,
    )


def erase_service(stores: TenantStores, index: VectorIndex | None, keys: Keys, log: Events) -> EraseService:
    """Return the erasure service, which also erases from the index where there is one. Opens no connection."""
    conversations = conversation_store(stores)
    eraser: Eraser = stores.build(lambda access: DynamoDbEraser(stores.table, stores.blobs_of(access), access.dynamodb))
    if index is not None:
        eraser = VectorEraser(rest=eraser, index=index, conversations=conversations)
    return EraseService(
        conversations=conversations,
        eraser=eraser,
        jobs=job_store(stores),
        keys=keys,
        events=log,
        clock=utc_now,
    )
