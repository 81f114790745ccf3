"""`/v1/imports…`: import a bundle that was exported before."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from fencepost.access.callers import site_of
from fencepost.blobs import domain as objects
from fencepost.http.body import read_body
from fencepost.http.proxy import Response
from fencepost.http.routing import Call, Route, RouteGroup, accepted, ok
from fencepost.http.schemas import done, upload_body
from fencepost.identity.domain.scope import Action
from fencepost.kernel.errors import ErrorCode
from fencepost.kernel.ports import Clock
from fencepost.lifecycle.domain.bundles import MAX_BUNDLE_BYTES
from fencepost.lifecycle.schemas.bundles import ImportRequest, ImportUploadBody, JobBody, job_body
from fencepost.lifecycle.service.imports import ImportService

_BUNDLE_ERRORS = (
    ErrorCode.IMPORT_INVALID,
    ErrorCode.IMPORT_CONFLICT,
    ErrorCode.BUNDLE_INVALID,
    ErrorCode.BUNDLE_FOREIGN,
    ErrorCode.BUNDLE_TOO_LARGE,
    ErrorCode.BUNDLE_VERSION_UNSUPPORTED,
)


@dataclass(frozen=True, slots=True)
class ImportRoutes(RouteGroup):
    """A small bundle is sent in the body and checked at once; a large one is uploaded, and its import then started."""

    service: ImportService
    clock: Clock

    def _import(self, call: Call) -> Response:
        scope = call.scope(Action.IMPORT)
        body = read_body(call.request, ImportRequest, ErrorCode.IMPORT_INVALID)
        if body.bundle is not None:
            return done(job_body(self.service.take(scope, site_of(call), body.bundle)), HTTPStatus.ACCEPTED)
        upload = self.service.offer(scope)
        offered = ImportUploadBody(
            job_id=upload.id,
            upload=upload_body(upload.form),
            max_bytes=MAX_BUNDLE_BYTES,
            expires_at=self.clock() + timedelta(seconds=objects.UPLOAD_SECONDS),
        )
        return done(offered, HTTPStatus.CREATED)

    def _start(self, call: Call) -> Response:
        record = self.service.start(call.scope(Action.IMPORT), site_of(call), call.params["id"])
        return done(job_body(record), HTTPStatus.ACCEPTED)

    def _get(self, call: Call) -> Response:
        return done(job_body(self.service.state(call.scope(Action.IMPORT), call.params["id"])))

    table = (
        Route(
            "POST",
            "/v1/imports",
            _import,
            "importBundle",
            "Import a bundle from the body, or get a form to upload one.",
            {HTTPStatus.ACCEPTED: JobBody, HTTPStatus.CREATED: ImportUploadBody},
            ImportRequest,
            errors=_BUNDLE_ERRORS,
        ),
        Route(
            "POST",
            "/v1/imports/{id}",
            _start,
            "startImport",
            "Import an uploaded bundle.",
            accepted(JobBody),
            errors=_BUNDLE_ERRORS,
        ),
        Route("GET", "/v1/imports/{id}", _get, "readImport", "Read the state of an import.", ok(JobBody)),
    )
