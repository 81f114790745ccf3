"""`POST …/exports` and `GET /v1/exports/{id}`: export one conversation, or everything of the caller."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from fencepost.access.callers import site_of
from fencepost.http.proxy import Response
from fencepost.http.routing import Call, Route, RouteGroup, accepted, ok
from fencepost.http.schemas import done
from fencepost.identity.domain.scope import Action
from fencepost.kernel.ports import Clock
from fencepost.lifecycle.schemas.bundles import ExportBody, JobBody, job_body
from fencepost.lifecycle.service.exports import LINK_SECONDS, ExportService


@dataclass(frozen=True, slots=True)
class ExportRoutes(RouteGroup):
    """A job writes the bundle; reading the export's state then returns a link to it."""

    service: ExportService
    clock: Clock

    def _everything(self, call: Call) -> Response:
        record = self.service.ask(call.scope(Action.EXPORT), site_of(call))
        return done(job_body(record), HTTPStatus.ACCEPTED)

    def _conversation(self, call: Call) -> Response:
        record = self.service.ask(call.scope(Action.EXPORT), site_of(call), call.params["id"])
        return done(job_body(record), HTTPStatus.ACCEPTED)

    def _get(self, call: Call) -> Response:
        export = self.service.state(call.scope(Action.EXPORT), call.params["id"])
        expires_at = self.clock() + timedelta(seconds=LINK_SECONDS) if export.link else None
        return done(ExportBody(**job_body(export.record).model_dump(), url=export.link, expires_at=expires_at))

    table = (
        Route(
            "POST",
            "/v1/exports",
            _everything,
            "exportEverything",
            "Export all data of the caller.",
            accepted(JobBody),
            leaving=True,
        ),
        Route(
            "POST",
            "/v1/conversations/{id}/exports",
            _conversation,
            "exportConversation",
            "Export one conversation.",
            accepted(JobBody),
            leaving=True,
        ),
        Route(
            "GET",
            "/v1/exports/{id}",
            _get,
            "readExport",
            "Read the state of an export.",
            ok(ExportBody),
            leaving=True,
        ),
    )
