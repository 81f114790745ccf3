"""Erasures, and summaries that are carried over, as the API asks for them and the worker does them."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.bootstrap.front import Front
from fencepost.bootstrap.stores import Stores
from fencepost.http.routing import Route
from fencepost.jobs.service.runner import JobHandler
from fencepost.kernel.clock import utc_now
from fencepost.kernel.ports import Keys
from fencepost.lifecycle.ports import Eraser
from fencepost.lifecycle.routes.carry import CarryRoutes
from fencepost.lifecycle.routes.erase import EraseRoutes
from fencepost.lifecycle.service.carry import CarryService
from fencepost.lifecycle.service.erase import EraseService
from fencepost.lifecycle.service.vector_erasure import VectorEraser
from fencepost.observability.ports import Events
from fencepost.queue.domain import Purpose
from fencepost.retrieval.ports import VectorIndex


def erase_service(reached: Stores, index: VectorIndex | None, keys: Keys, log: Events) -> EraseService:
    """Build what erases, from the index as well where there is one. Nothing is connected to."""
    return EraseService(
        conversations=reached.conversations,
        eraser=_eraser(reached, index),
        jobs=reached.jobs,
        keys=keys,
        events=log,
        clock=utc_now,
    )


def erase_handlers(service: EraseService) -> Mapping[Purpose, JobHandler]:
    """Return the worker's part."""
    return {Purpose.ERASE: service.run}


def erase_routes(reached: Stores, index: VectorIndex | None, before: Front, log: Events) -> tuple[Route, ...]:
    """Return the API's part: to be forgotten, and to go on elsewhere."""
    carry = CarryService(
        conversations=reached.conversations,
        memory=reached.memory,
        store=reached.carrying,
        directory=before.directory,
        sites=before.sites,
        clock=utc_now,
        decide=before.decide,
    )
    return (*EraseRoutes(erase_service(reached, index, before.keys, log)).routes(), *CarryRoutes(carry).routes())


def _eraser(reached: Stores, index: VectorIndex | None) -> Eraser:
    if index is None:
        return reached.eraser
    return VectorEraser(rest=reached.eraser, index=index, conversations=reached.conversations)
