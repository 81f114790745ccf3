"""`/v1/documents…`: an organisation's admins add, upload, list, change, refresh and remove documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from fencepost.blobs import domain as objects
from fencepost.documents.schemas import (
    DocumentBody,
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
from fencepost.http.proxy import Response
from fencepost.http.routing import Call, Route, RouteGroup, accepted, created, ok
from fencepost.http.schemas import done
from fencepost.identity.domain.scope import Action, Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock

_LISTING = ("documents",)
_READ_ERRORS = (ErrorCode.RETRIEVAL_DISABLED,)
_WRITE_ERRORS = (*_READ_ERRORS, ErrorCode.DOCUMENT_INVALID, ErrorCode.DOCUMENT_BUSY)


@dataclass(frozen=True, slots=True)
class DocumentRoutes(RouteGroup):
    """Each handler authorises, reads the request, then acts. Callers who are not admins get `not_found`.

    Attributes:
        service: None where the deployment has no index: an admin then gets `retrieval_disabled`.
        has_site: returns whether an organisation has a site of this id.
    """

    service: DocumentService | None
    has_site: Callable[[str, str], bool]
    cursors: Cursors
    clock: Clock

    def _add(self, call: Call) -> Response:
        scope, service = self._admin(call)
        body = read_settings(call.request, DocumentRequest, ErrorCode.DOCUMENT_INVALID)
        self._require_site(scope, body.site)
        document = service.add(scope, body.document(), _encoded(body.text))
        return done(document_body(document), HTTPStatus.ACCEPTED)

    def _offer(self, call: Call) -> Response:
        scope, service = self._admin(call)
        body = read_settings(call.request, UploadRequest, ErrorCode.DOCUMENT_INVALID)
        self._require_site(scope, body.site)
        document, form = service.offer(scope, body.document(), body.content_type, body.size)
        expires_at = self.clock() + timedelta(seconds=objects.UPLOAD_SECONDS)
        return done(document_body(document, form=form, expires_at=expires_at), HTTPStatus.CREATED)

    def _list(self, call: Call) -> Response:
        scope, service = self._admin(call)
        query = read_query(call.request, DocumentsQuery, cursor=ErrorCode.CURSOR_INVALID)
        page = service.page(scope, self.cursors.read(scope, _LISTING, query.cursor), query.limit)
        cursor = self.cursors.write(scope, _LISTING, page.next_key)
        return done(DocumentList(items=list(map(document_body, page.items)), next_cursor=cursor))

    def _get(self, call: Call) -> Response:
        scope, service = self._admin(call)
        return done(document_body(service.get(scope, call.params["id"])))

    def _change(self, call: Call) -> Response:
        scope, service = self._admin(call)
        body = read_settings(call.request, DocumentPatch, ErrorCode.DOCUMENT_INVALID)
        return done(document_body(service.change(scope, call.params["id"], body.changes(), _encoded(body.text))))

    def _remove(self, call: Call) -> Response:
        scope, service = self._admin(call)
        service.remove(scope, call.params["id"])
        return Response("done", HTTPStatus.NO_CONTENT)

    def _refresh(self, call: Call) -> Response:
        scope, service = self._admin(call)
        return done(document_body(service.refresh(scope, call.params["id"])), HTTPStatus.ACCEPTED)

    def _admin(self, call: Call) -> tuple[Scope, DocumentService]:
        scope = call.scope(Action.ADMINISTER)
        if self.service is None:
            raise FencepostError(ErrorCode.RETRIEVAL_DISABLED)
        return scope, self.service

    def _require_site(self, scope: Scope, site: str) -> None:
        if site and not self.has_site(scope.org, site):
            raise InvalidFields(ErrorCode.DOCUMENT_INVALID, ["site"])

    table = (
        Route(
            "POST",
            "/v1/documents",
            _add,
            "addDocument",
            "Add a document from the body or from an address. It is indexed in the background.",
            accepted(DocumentBody),
            DocumentRequest,
            errors=_WRITE_ERRORS,
        ),
        Route(
            "POST",
            "/v1/documents/uploads",
            _offer,
            "offerDocument",
            "Get a form to upload a document.",
            created(DocumentBody),
            UploadRequest,
            errors=(*_WRITE_ERRORS, ErrorCode.DOCUMENT_TYPE_UNSUPPORTED, ErrorCode.DOCUMENT_TOO_LARGE),
        ),
        Route(
            "GET",
            "/v1/documents",
            _list,
            "listDocuments",
            "List the documents, newest first.",
            ok(DocumentList),
            query=DocumentsQuery,
            errors=(*_READ_ERRORS, ErrorCode.CURSOR_INVALID),
        ),
        Route(
            "GET",
            "/v1/documents/{id}",
            _get,
            "readDocument",
            "Read a document's description and state.",
            ok(DocumentBody),
            errors=_READ_ERRORS,
        ),
        Route(
            "PATCH",
            "/v1/documents/{id}",
            _change,
            "changeDocument",
            "Change a document's description or text. New access rights take effect at once.",
            ok(DocumentBody),
            DocumentPatch,
            errors=_WRITE_ERRORS,
        ),
        Route(
            "DELETE",
            "/v1/documents/{id}",
            _remove,
            "removeDocument",
            "Remove a document. It is no longer found, and is deleted soon after.",
            {HTTPStatus.NO_CONTENT: None},
            errors=(*_READ_ERRORS, ErrorCode.DOCUMENT_BUSY),
        ),
        Route(
            "POST",
            "/v1/documents/{id}/refresh",
            _refresh,
            "refreshDocument",
            "Index a document again, or for the first time after its upload.",
            accepted(DocumentBody),
            errors=(*_READ_ERRORS, ErrorCode.DOCUMENT_NOT_UPLOADED, ErrorCode.DOCUMENT_BUSY),
        ),
    )


def _encoded(text: str | None) -> bytes | None:
    """Return a text in UTF-8. A lone surrogate, which JSON can escape and UTF-8 cannot encode, becomes `?`."""
    return None if text is None else text.encode("utf-8", "replace")
