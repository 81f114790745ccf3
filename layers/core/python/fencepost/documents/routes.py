"""`/v1/documents…`: what answers are found in. To all but an organisation's admins there is nothing here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from fencepost.blobs import domain as objects
from fencepost.documents.schemas import (
    DocumentList,
    DocumentPatch,
    DocumentRequest,
    DocumentsQuery,
    UploadRequest,
    document_body,
)
from fencepost.documents.service.documents import DocumentService
from fencepost.http.body import read_query, read_settings
from fencepost.http.cursors import Cursors
from fencepost.http.errors import InvalidFields
from fencepost.http.proxy import Response, json_response
from fencepost.http.routing import Call, Route
from fencepost.identity.domain.scope import Action, Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock

_LISTING = ("documents",)


@dataclass(frozen=True, slots=True)
class DocumentRoutes:
    """Each route authorises, then reads what was sent, then acts.

    Attributes:
        service: None where the deployment has no index: then every route says so to an admin.
        has_site: tells whether an organisation has a site of this id.
    """

    service: DocumentService | None
    has_site: Callable[[str, str], bool]
    cursors: Cursors
    clock: Clock

    def routes(self) -> tuple[Route, ...]:
        """Return the routes."""
        return (
            Route("POST", "/v1/documents", self._add),
            Route("POST", "/v1/documents/uploads", self._offer),
            Route("GET", "/v1/documents", self._page),
            Route("GET", "/v1/documents/{id}", self._get),
            Route("PATCH", "/v1/documents/{id}", self._change),
            Route("DELETE", "/v1/documents/{id}", self._remove),
            Route("POST", "/v1/documents/{id}/refresh", self._refresh),
        )

    def _add(self, call: Call) -> Response:
        scope, service = self._admitted(call)
        body = read_settings(call.request, DocumentRequest, ErrorCode.DOCUMENT_INVALID)
        self._require_site(scope, body.site)
        document = service.add(scope, body.document(), _encoded(body.text))
        return json_response("done", HTTPStatus.ACCEPTED, document_body(document).wire())

    def _offer(self, call: Call) -> Response:
        scope, service = self._admitted(call)
        body = read_settings(call.request, UploadRequest, ErrorCode.DOCUMENT_INVALID)
        self._require_site(scope, body.site)
        document, form = service.offer(scope, body.document(), body.content_type, body.size)
        expires_at = self.clock() + timedelta(seconds=objects.UPLOAD_SECONDS)
        return json_response(
            "done", HTTPStatus.CREATED, document_body(document, form=form, expires_at=expires_at).wire()
        )

    def _page(self, call: Call) -> Response:
        scope, service = self._admitted(call)
        query = read_query(call.request, DocumentsQuery, cursor=ErrorCode.CURSOR_INVALID)
        page = service.page(scope, self.cursors.read(scope, _LISTING, query.cursor), query.limit)
        cursor = self.cursors.write(scope, _LISTING, page.next_key)
        listed = DocumentList(items=list(map(document_body, page.items)), next_cursor=cursor)
        return json_response("done", HTTPStatus.OK, listed.wire())

    def _get(self, call: Call) -> Response:
        scope, service = self._admitted(call)
        return json_response("done", HTTPStatus.OK, document_body(service.get(scope, call.params["id"])).wire())

    def _change(self, call: Call) -> Response:
        scope, service = self._admitted(call)
        body = read_settings(call.request, DocumentPatch, ErrorCode.DOCUMENT_INVALID)
        document = service.change(scope, call.params["id"], body.changes(), _encoded(body.text))
        return json_response("done", HTTPStatus.OK, document_body(document).wire())

    def _remove(self, call: Call) -> Response:
        scope, service = self._admitted(call)
        service.remove(scope, call.params["id"])
        return Response("done", HTTPStatus.NO_CONTENT)

    def _refresh(self, call: Call) -> Response:
        scope, service = self._admitted(call)
        document = service.refresh(scope, call.params["id"])
        return json_response("done", HTTPStatus.ACCEPTED, document_body(document).wire())

    def _admitted(self, call: Call) -> tuple[Scope, DocumentService]:
        scope = call.scope(Action.ADMINISTER)
        if self.service is None:
            raise FencepostError(ErrorCode.RETRIEVAL_DISABLED)
        return scope, self.service

    def _require_site(self, scope: Scope, site: str) -> None:
        if site and not self.has_site(scope.org, site):
            raise InvalidFields(ErrorCode.DOCUMENT_INVALID, ["site"])


def _encoded(text: str | None) -> bytes | None:
    """Return a text as it is stored. JSON can hold half a character, and UTF-8 cannot."""
    return None if text is None else text.encode("utf-8", "replace")
