"""Documents, as the OpenAPI document tells of them."""

from __future__ import annotations

from http import HTTPStatus

from fencepost.documents import schemas as models
from fencepost.http.operations import Operation, accepted, created, ok
from fencepost.kernel.errors import ErrorCode

_PATH = "/v1/documents"
_ONE = f"{_PATH}/{{id}}"
_ANY = (ErrorCode.RETRIEVAL_DISABLED,)
_CHANGING = (*_ANY, ErrorCode.DOCUMENT_INVALID, ErrorCode.DOCUMENT_BUSY)

DOCUMENTS = (
    Operation(
        "POST",
        _PATH,
        "addDocument",
        "Add a document that is sent along, or is to be fetched. It is read in the background.",
        accepted(models.DocumentBody),
        models.DocumentRequest,
        codes=_CHANGING,
    ),
    Operation(
        "POST",
        f"{_PATH}/uploads",
        "offerDocument",
        "Ask where to upload a document.",
        created(models.DocumentBody),
        models.UploadRequest,
        codes=(*_CHANGING, ErrorCode.DOCUMENT_TYPE_UNSUPPORTED, ErrorCode.DOCUMENT_TOO_LARGE),
    ),
    Operation(
        "GET",
        _PATH,
        "listDocuments",
        "List the documents, newest first.",
        ok(models.DocumentList),
        query=models.DocumentsQuery,
        codes=(*_ANY, ErrorCode.CURSOR_INVALID),
    ),
    Operation("GET", _ONE, "readDocument", "See what is known of a document.", ok(models.DocumentBody), codes=_ANY),
    Operation(
        "PATCH",
        _ONE,
        "changeDocument",
        "Change what is said of a document. Other rights hold at once.",
        ok(models.DocumentBody),
        models.DocumentPatch,
        codes=_CHANGING,
    ),
    Operation(
        "DELETE",
        _ONE,
        "removeDocument",
        "Remove a document. It is found no more, and is gone soon after.",
        {HTTPStatus.NO_CONTENT: None},
        codes=(*_ANY, ErrorCode.DOCUMENT_BUSY),
    ),
    Operation(
        "POST",
        f"{_ONE}/refresh",
        "refreshDocument",
        "Have a document read again, or for the first time once it was uploaded.",
        accepted(models.DocumentBody),
        codes=(*_ANY, ErrorCode.DOCUMENT_NOT_UPLOADED, ErrorCode.DOCUMENT_BUSY),
    ),
)
