"""`/v1/attachments…`: offer an upload, scan the uploaded file, and read its state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from fencepost.access.callers import site_of
from fencepost.blobs import domain as objects
from fencepost.conversations.schemas.attachments import AttachmentBody, AttachmentRequest, attachment_body
from fencepost.conversations.service.attachments import AttachmentService
from fencepost.http.body import read_body
from fencepost.http.proxy import Response
from fencepost.http.routing import Call, Route, RouteGroup, created, ok
from fencepost.http.schemas import done
from fencepost.identity.domain.scope import Action
from fencepost.kernel.errors import ErrorCode
from fencepost.kernel.ports import Clock


@dataclass(frozen=True, slots=True)
class AttachmentRoutes(RouteGroup):
    """A client announces a file, the browser uploads it with the returned form, and a job then extracts its text."""

    service: AttachmentService
    clock: Clock

    def _offer(self, call: Call) -> Response:
        scope = call.scope(Action.WRITE)
        body = read_body(call.request, AttachmentRequest, ErrorCode.ATTACHMENT_INVALID)
        attachment, form = self.service.offer(scope, body.name, body.content_type, body.size)
        expires_at = self.clock() + timedelta(seconds=objects.UPLOAD_SECONDS)
        return done(attachment_body(attachment, form=form, expires_at=expires_at), HTTPStatus.CREATED)

    def _scan(self, call: Call) -> Response:
        attachment, job = self.service.scan(call.scope(Action.WRITE), site_of(call), call.params["id"])
        return done(attachment_body(attachment, job=job), HTTPStatus.ACCEPTED if job else HTTPStatus.OK)

    def _get(self, call: Call) -> Response:
        return done(attachment_body(self.service.get(call.scope(Action.READ), call.params["id"])))

    table = (
        Route(
            "POST",
            "/v1/attachments",
            _offer,
            "offerAttachment",
            "Get a form to upload a file.",
            created(AttachmentBody),
            AttachmentRequest,
            errors=(
                ErrorCode.ATTACHMENT_INVALID,
                ErrorCode.ATTACHMENT_TYPE_UNSUPPORTED,
                ErrorCode.ATTACHMENT_TOO_LARGE,
            ),
        ),
        Route(
            "POST",
            "/v1/attachments/{id}/scan",
            _scan,
            "scanAttachment",
            "Scan an uploaded file.",
            {HTTPStatus.ACCEPTED: AttachmentBody, HTTPStatus.OK: AttachmentBody},
            errors=(ErrorCode.ATTACHMENT_NOT_READY,),
        ),
        Route(
            "GET",
            "/v1/attachments/{id}",
            _get,
            "readAttachment",
            "Read the state of a file.",
            ok(AttachmentBody),
        ),
    )
