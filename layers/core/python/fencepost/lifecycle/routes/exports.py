"""`POST …/exports` and `GET /v1/exports/{id}`: everything that was said, to be taken away."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from fencepost.access.callers import site_of
from fencepost.http.proxy import Response, json_response
from fencepost.http.routing import Call, Route
from fencepost.identity.domain.scope import Action
from fencepost.kernel.ports import Clock
from fencepost.lifecycle.schemas.storage import ExportBody, job_body
from fencepost.lifecycle.service.exports import LINK_SECONDS, ExportService


@dataclass(frozen=True, slots=True)
class ExportRoutes:
    """Exports of one conversation, or of everything of an owner."""

    service: ExportService
    clock: Clock

    def routes(self) -> tuple[Route, ...]:
        """Return the routes."""
        return (
            Route("POST", "/v1/exports", self._everything, leaving=True),
            Route("POST", "/v1/conversations/{id}/exports", self._conversation, leaving=True),
            Route("GET", "/v1/exports/{id}", self._state, leaving=True),
        )

    def _everything(self, call: Call) -> Response:
        record = self.service.ask(call.scope(Action.EXPORT), site_of(call))
        return json_response("done", HTTPStatus.ACCEPTED, job_body(record).wire())

    def _conversation(self, call: Call) -> Response:
        record = self.service.ask(call.scope(Action.EXPORT), site_of(call), call.params["id"])
        return json_response("done", HTTPStatus.ACCEPTED, job_body(record).wire())

    def _state(self, call: Call) -> Response:
        export = self.service.state(call.scope(Action.EXPORT), call.params["id"])
        expires_at = self.clock() + timedelta(seconds=LINK_SECONDS) if export.link else None
        body = ExportBody(**job_body(export.record).model_dump(), url=export.link, expires_at=expires_at)
        return json_response("done", HTTPStatus.OK, body.wire())
