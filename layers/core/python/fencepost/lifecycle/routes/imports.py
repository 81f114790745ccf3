"""`/v1/imports…`: what was exported comes back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from fencepost.access.callers import site_of
from fencepost.blobs import domain as objects
from fencepost.http.body import read_body
from fencepost.http.proxy import Response, json_response
from fencepost.http.routing import Call, Route
from fencepost.http.schemas import upload_body
from fencepost.identity.domain.scope import Action
from fencepost.kernel.errors import ErrorCode
from fencepost.kernel.ports import Clock
from fencepost.lifecycle.domain.bundles import MAX_BUNDLE_BYTES
from fencepost.lifecycle.schemas.storage import ImportRequest, ImportUploadBody, job_body
from fencepost.lifecycle.service.imports import ImportService


@dataclass(frozen=True, slots=True)
class ImportRoutes:
    """A small bundle is sent and checked at once; a large one is uploaded, and its import then started."""

    service: ImportService
    clock: Clock

    def routes(self) -> tuple[Route, ...]:
        """Return the routes."""
        return (
            Route("POST", "/v1/imports", self._take),
            Route("POST", "/v1/imports/{id}", self._start),
            Route("GET", "/v1/imports/{id}", self._state),
        )

    def _take(self, call: Call) -> Response:
        scope = call.scope(Action.IMPORT)
        body = read_body(call.request, ImportRequest, ErrorCode.IMPORT_INVALID)
        if body.bundle is not None:
            record = self.service.take(scope, site_of(call), body.bundle)
            return json_response("done", HTTPStatus.ACCEPTED, job_body(record).wire())
        upload = self.service.offer(scope)
        offered = ImportUploadBody(
            job_id=upload.id,
            upload=upload_body(upload.form),
            max_bytes=MAX_BUNDLE_BYTES,
            expires_at=self.clock() + timedelta(seconds=objects.UPLOAD_SECONDS),
        )
        return json_response("done", HTTPStatus.CREATED, offered.wire())

    def _start(self, call: Call) -> Response:
        record = self.service.start(call.scope(Action.IMPORT), site_of(call), call.params["id"])
        return json_response("done", HTTPStatus.ACCEPTED, job_body(record).wire())

    def _state(self, call: Call) -> Response:
        record = self.service.state(call.scope(Action.IMPORT), call.params["id"])
        return json_response("done", HTTPStatus.OK, job_body(record).wire())
