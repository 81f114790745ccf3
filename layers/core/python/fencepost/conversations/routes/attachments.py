"""`/v1/attachments…`: files that questions bring along."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from fencepost.access.callers import site_of
from fencepost.blobs import domain as objects
from fencepost.conversations.schemas.attachments import AttachmentRequest, attachment_body
from fencepost.conversations.service.attachments import AttachmentService
from fencepost.http.body import read_body
from fencepost.http.proxy import Response, json_response
from fencepost.http.routing import Call, Route
from fencepost.identity.domain.scope import Action
from fencepost.kernel.errors import ErrorCode
from fencepost.kernel.ports import Clock


@dataclass(frozen=True, slots=True)
class AttachmentRoutes:
    """A file is announced, uploaded by the browser with the form that comes back, and then read."""

    service: AttachmentService
    clock: Clock

    def routes(self) -> tuple[Route, ...]:
        """Return the routes."""
        return (
            Route("POST", "/v1/attachments", self._offer),
            Route("POST", "/v1/attachments/{id}/scan", self._scan),
            Route("GET", "/v1/attachments/{id}", self._get),
        )

    def _offer(self, call: Call) -> Response:
        scope = call.scope(Action.WRITE)
        body = read_body(call.request, AttachmentRequest, ErrorCode.ATTACHMENT_INVALID)
        attachment, form = self.service.offer(scope, body.name, body.content_type, body.size)
        expires_at = self.clock() + timedelta(seconds=objects.UPLOAD_SECONDS)
        offered = attachment_body(attachment, form=form, expires_at=expires_at)
        return json_response("done", HTTPStatus.CREATED, offered.wire())

    def _scan(self, call: Call) -> Response:
        attachment, job = self.service.scan(call.scope(Action.WRITE), site_of(call), call.params["id"])
        status = HTTPStatus.ACCEPTED if job else HTTPStatus.OK
        return json_response("done", status, attachment_body(attachment, job=job).wire())

    def _get(self, call: Call) -> Response:
        attachment = self.service.get(call.scope(Action.READ), call.params["id"])
        return json_response("done", HTTPStatus.OK, attachment_body(attachment).wire())
