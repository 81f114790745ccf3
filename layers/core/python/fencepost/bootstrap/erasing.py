"""Erasures, and summaries that are carried over, as the API asks for them and the worker does them."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.bootstrap.clock import utc_now
from fencepost.bootstrap.front import Front
from fencepost.bootstrap.stores import Stores
from fencepost.domain.jobs import Purpose
from fencepost.edge.carry import CarryRoutes
from fencepost.edge.erase import EraseRoutes
from fencepost.edge.router import Route
from fencepost.ports import Eraser, Events, Keys, VectorIndex
from fencepost.services.carry import CarryService
from fencepost.services.erase import EraseService
from fencepost.services.jobs import JobHandler
from fencepost.services.vector_eraser import IndexedEraser


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
    return IndexedEraser(rest=reached.eraser, index=index, conversations=reached.conversations)
