"""The one table of errors: the HTTP status, sentence and waiting time of each code.

    FencepostError (kernel.errors)      every expected failure, with one code of `ERRORS`
      ├── Denied (identity)             404 `not_found`: absent, foreign and revoked look alike
      ├── ModelError (model)            502, 503 or 504: the provider gave no usable answer
      ├── PermanentError (retrieval)    an index or an embedder refused for good; a job is not retried
      ├── MethodNotAllowed              405, with the `Allow` header
      └── InvalidFields                 400, with the names of the invalid fields

The groups of `ERRORS` are those of `ErrorCode`. Any other exception becomes `internal_error` in `Endpoint`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import NamedTuple

from fencepost.http.proxy import Response, json_response
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.input_limits import (
    MAX_HISTORY_CHARACTERS,
    MAX_HISTORY_ENTRIES,
    MAX_MESSAGE_CHARACTERS,
    MAX_MINUTES,
    MAX_REASON_CHARACTERS,
    MIN_REASON_CHARACTERS,
)


class ErrorRow(NamedTuple):
    """The answer to one error code.

    Attributes:
        status: the HTTP status.
        sentence: one sentence that a visitor may read.
        retry_after: seconds to wait, where the error itself carries no time; None where waiting does not help.
    """

    status: HTTPStatus
    sentence: str
    retry_after: int | None = None


_BAD_REQUEST = HTTPStatus.BAD_REQUEST
_TOO_MANY = HTTPStatus.TOO_MANY_REQUESTS
_UNAUTHORIZED = HTTPStatus.UNAUTHORIZED
_NOT_FOUND = HTTPStatus.NOT_FOUND
_CONFLICT = HTTPStatus.CONFLICT
_TOO_LARGE = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
_INTERNAL = HTTPStatus.INTERNAL_SERVER_ERROR
_BAD_GATEWAY = HTTPStatus.BAD_GATEWAY
_UNAVAILABLE = HTTPStatus.SERVICE_UNAVAILABLE

ERRORS: Mapping[ErrorCode, ErrorRow] = MappingProxyType(
    {
        # Requests that cannot be read or routed.
        ErrorCode.BODY_TOO_LARGE: ErrorRow(_TOO_LARGE, "The request is larger than 2 MiB. Please send less."),
        ErrorCode.INVALID_JSON: ErrorRow(_BAD_REQUEST, "The request body is not valid JSON."),
        ErrorCode.NOT_AN_OBJECT: ErrorRow(_BAD_REQUEST, "The request body must be a JSON object."),
        ErrorCode.UNSUPPORTED_MEDIA_TYPE: ErrorRow(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The request's Content-Type must be application/json."
        ),
        ErrorCode.METHOD_NOT_ALLOWED: ErrorRow(HTTPStatus.METHOD_NOT_ALLOWED, "Method not allowed"),
        ErrorCode.NOT_FOUND: ErrorRow(_NOT_FOUND, "There is nothing at this address."),
        ErrorCode.ORIGIN_NOT_ALLOWED: ErrorRow(HTTPStatus.FORBIDDEN, "This site is not allowed to use the chat."),
        # Answered by the gateway itself: its firewall, a signature, an expired token.
        ErrorCode.REQUEST_REFUSED: ErrorRow(HTTPStatus.FORBIDDEN, "The request was refused."),
        ErrorCode.QUERY_INVALID: ErrorRow(_BAD_REQUEST, "A parameter of the address is not one that is understood."),
        ErrorCode.CURSOR_INVALID: ErrorRow(_BAD_REQUEST, "The cursor is not one of this list. Please start anew."),
        # Callers: tokens, organisations, sites.
        ErrorCode.TOKEN_MISSING: ErrorRow(_UNAUTHORIZED, "Please send a token: Authorization: Bearer …"),
        ErrorCode.TOKEN_INVALID: ErrorRow(_UNAUTHORIZED, "The token is not valid."),
        ErrorCode.TOKEN_EXPIRED: ErrorRow(_UNAUTHORIZED, "The token has ended. Please get a new one."),
        ErrorCode.IDENTITY_UNAVAILABLE: ErrorRow(_UNAVAILABLE, "Tokens cannot be verified at the moment.", 5),
        ErrorCode.ORGANISATION_MISSING: ErrorRow(
            _BAD_REQUEST, "Please name an organisation in the X-Org-Id header: your token chooses none."
        ),
        ErrorCode.SITE_MISSING: ErrorRow(_BAD_REQUEST, "Please name the site by its key."),
        ErrorCode.SITE_UNKNOWN: ErrorRow(_NOT_FOUND, "There is no site with this key."),
        # Messages.
        ErrorCode.MESSAGE_MISSING: ErrorRow(_BAD_REQUEST, "Please send a message."),
        ErrorCode.MESSAGE_NOT_A_STRING: ErrorRow(_BAD_REQUEST, "The message must be a text."),
        ErrorCode.MESSAGE_BLANK: ErrorRow(_BAD_REQUEST, "The message is empty. Please write something."),
        ErrorCode.MESSAGE_TOO_LONG: ErrorRow(
            _BAD_REQUEST, f"The message is longer than {MAX_MESSAGE_CHARACTERS:,} characters. Please shorten it."
        ),
        ErrorCode.INPUT_REFUSED: ErrorRow(
            _BAD_REQUEST, "Sorry, this cannot be answered here. Please ask a question about the product."
        ),
        # Conversations, facts and summaries.
        ErrorCode.MESSAGE_ID_INVALID: ErrorRow(
            _BAD_REQUEST, "The message's id must be 1 to 64 letters, digits, hyphens or underscores."
        ),
        ErrorCode.MESSAGE_ID_REUSED: ErrorRow(_CONFLICT, "This message id belongs to another message."),
        ErrorCode.CONVERSATION_ID_INVALID: ErrorRow(_BAD_REQUEST, "The conversation's id must be a text."),
        ErrorCode.CONVERSATION_BUSY: ErrorRow(
            _CONFLICT, "The conversation is still answering another message. Please try again in a moment.", 5
        ),
        ErrorCode.SITE_MISMATCH: ErrorRow(_CONFLICT, "This conversation is on another site."),
        ErrorCode.CONVERSATIONS_UNAVAILABLE: ErrorRow(
            _UNAVAILABLE, "Conversations cannot be read at the moment. Please try again soon.", 5
        ),
        ErrorCode.ANSWER_MISSING: ErrorRow(_CONFLICT, "This message has no answer yet."),
        ErrorCode.REGENERATE_NOT_LAST: ErrorRow(_CONFLICT, "Only the latest answer can be generated anew."),
        ErrorCode.IDEMPOTENCY_KEY_INVALID: ErrorRow(
            _BAD_REQUEST, "The Idempotency-Key must be 1 to 128 visible ASCII characters."
        ),
        ErrorCode.TITLE_INVALID: ErrorRow(_BAD_REQUEST, "The title must be a text of 1 to 200 characters."),
        ErrorCode.RATING_INVALID: ErrorRow(_BAD_REQUEST, 'The rating must be "up", "down" or null.'),
        ErrorCode.FACTS_INVALID: ErrorRow(
            _BAD_REQUEST, "Facts must be a list of at most 32 texts of 1 to 500 characters each."
        ),
        ErrorCode.FACTS_TOO_LARGE: ErrorRow(_TOO_LARGE, "The facts take more room than a prompt has for them."),
        ErrorCode.CARRY_NOT_ALLOWED: ErrorRow(
            _CONFLICT, "The organisations do not allow conversations to be carried from one to the other."
        ),
        ErrorCode.CARRY_INVALID: ErrorRow(_BAD_REQUEST, "Please name the organisation to carry the summary to."),
        ErrorCode.SUMMARY_ID_INVALID: ErrorRow(_BAD_REQUEST, "Please name the summary that you have read by its id."),
        ErrorCode.SUMMARY_MISSING: ErrorRow(_CONFLICT, "This conversation has no summary yet."),
        ErrorCode.SUMMARY_NOT_APPROVED: ErrorRow(_CONFLICT, "Please read and approve the summary first."),
        # Files and bundles.
        ErrorCode.ATTACHMENTS_INVALID: ErrorRow(
            _BAD_REQUEST, "Attachments must be a list of at most 5 ids of files that you uploaded."
        ),
        ErrorCode.ATTACHMENT_INVALID: ErrorRow(
            _BAD_REQUEST, "A file needs a name of 1 to 200 characters, a content type and its size in bytes."
        ),
        ErrorCode.ATTACHMENT_TYPE_UNSUPPORTED: ErrorRow(
            _BAD_REQUEST, "Only plain text, Markdown and PDF files can be attached."
        ),
        ErrorCode.ATTACHMENT_TOO_LARGE: ErrorRow(_TOO_LARGE, "The file is larger than a file may be."),
        ErrorCode.ATTACHMENT_NOT_READY: ErrorRow(_CONFLICT, "The file has not been uploaded and read yet.", 2),
        ErrorCode.ATTACHMENT_UNREADABLE: ErrorRow(_BAD_REQUEST, "No text can be read from the file."),
        ErrorCode.IMPORT_INVALID: ErrorRow(_BAD_REQUEST, "An import needs a bundle, as Base64 or by an upload."),
        ErrorCode.BUNDLE_INVALID: ErrorRow(_BAD_REQUEST, "The bundle is damaged or is none."),
        ErrorCode.BUNDLE_FOREIGN: ErrorRow(_BAD_REQUEST, "The bundle was not exported by you."),
        ErrorCode.BUNDLE_TOO_LARGE: ErrorRow(_TOO_LARGE, "The bundle is larger than can be imported."),
        ErrorCode.BUNDLE_VERSION_UNSUPPORTED: ErrorRow(
            _BAD_REQUEST, "The bundle's format is of a version that is not supported."
        ),
        ErrorCode.IMPORT_CONFLICT: ErrorRow(
            _CONFLICT, "Something with the same id is there already and is not the same. Nothing was imported."
        ),
        # Documents and the index.
        ErrorCode.DOCUMENT_INVALID: ErrorRow(_BAD_REQUEST, "The document is described wrongly, or not completely."),
        ErrorCode.DOCUMENT_TYPE_UNSUPPORTED: ErrorRow(
            _BAD_REQUEST, "Only plain text, Markdown, HTML and PDF files can be documents."
        ),
        ErrorCode.DOCUMENT_TOO_LARGE: ErrorRow(_TOO_LARGE, "The document is larger than a document may be."),
        ErrorCode.DOCUMENT_UNREADABLE: ErrorRow(_BAD_REQUEST, "No text can be read from the document."),
        ErrorCode.DOCUMENT_NOT_UPLOADED: ErrorRow(_CONFLICT, "The document has not been uploaded yet.", 2),
        ErrorCode.DOCUMENT_BUSY: ErrorRow(
            _CONFLICT, "The document is being changed by somebody else. Please try again in a moment.", 5
        ),
        ErrorCode.SOURCE_UNREACHABLE: ErrorRow(_BAD_GATEWAY, "The document's address does not answer as it should."),
        ErrorCode.SOURCE_EMPTY: ErrorRow(_BAD_GATEWAY, "There is nothing to be read at the document's address."),
        ErrorCode.RETRIEVAL_DISABLED: ErrorRow(
            HTTPStatus.NOT_IMPLEMENTED, "This deployment keeps no documents: it has no index."
        ),
        ErrorCode.INDEX_UNAVAILABLE: ErrorRow(_UNAVAILABLE, "The index does not answer. Please try again soon.", 10),
        ErrorCode.EMBEDDER_UNAVAILABLE: ErrorRow(
            _UNAVAILABLE, "Texts cannot be embedded at the moment. Please try again soon.", 10
        ),
        # Administration and diagnoses.
        ErrorCode.ADMIN_INPUT_INVALID: ErrorRow(
            _BAD_REQUEST, "The settings are not complete, or one of them is not what it may be."
        ),
        ErrorCode.SITE_KEY_TAKEN: ErrorRow(_CONFLICT, "This public key belongs to another site."),
        ErrorCode.SETTINGS_CHANGED: ErrorRow(
            _CONFLICT, "The settings have changed since this version. Please read them again."
        ),
        ErrorCode.LAST_ADMIN: ErrorRow(_CONFLICT, "An organisation needs an admin. Please name another one first."),
        ErrorCode.DIAGNOSIS_INVALID: ErrorRow(
            _BAD_REQUEST,
            "Please name a conversation, its owner (visitor:… or member:…), a reason of "
            f"{MIN_REASON_CHARACTERS} to {MAX_REASON_CHARACTERS} characters, and 1 to {MAX_MINUTES} minutes.",
        ),
        ErrorCode.DIAGNOSIS_ENDED: ErrorRow(
            HTTPStatus.GONE, "This diagnosis has ended, or somebody else opened it. Please open one of your own."
        ),
        # The history of the stateless chat.
        ErrorCode.HISTORY_NOT_A_LIST: ErrorRow(_BAD_REQUEST, "The history must be a list."),
        ErrorCode.HISTORY_TOO_LONG: ErrorRow(
            _BAD_REQUEST, f"The history has more than {MAX_HISTORY_ENTRIES} entries. Please send the latest only."
        ),
        ErrorCode.HISTORY_ENTRY_MALFORMED: ErrorRow(
            _BAD_REQUEST, "Each entry of the history must be an object with a role and a content, both texts."
        ),
        ErrorCode.HISTORY_ROLE_INVALID: ErrorRow(
            _BAD_REQUEST, "The role of each entry of the history must be user or assistant."
        ),
        ErrorCode.HISTORY_CONTENT_TOO_LONG: ErrorRow(
            _BAD_REQUEST, f"An entry of the history is longer than {MAX_HISTORY_CHARACTERS:,} characters."
        ),
        ErrorCode.HISTORY_UNBALANCED: ErrorRow(
            _BAD_REQUEST, "The history has more answers than questions. Please send both."
        ),
        ErrorCode.HISTORY_UNSIGNED: ErrorRow(
            _BAD_REQUEST, "An answer in the history does not bear the signature that came with it."
        ),
        # Limits and caps.
        ErrorCode.RATE_LIMITED_MINUTE: ErrorRow(_TOO_MANY, "That was a lot in one minute. Please wait a moment.", 60),
        ErrorCode.RATE_LIMITED_DAY: ErrorRow(
            _TOO_MANY, "That was a lot for one day. Please come back tomorrow.", 3_600
        ),
        ErrorCode.RATE_LIMIT_UNAVAILABLE: ErrorRow(_TOO_MANY, "Requests cannot be counted. Please try again soon.", 5),
        ErrorCode.DAILY_CALLS_EXHAUSTED: ErrorRow(
            _TOO_MANY, "The chat has answered all it may today. Please come back tomorrow.", 3_600
        ),
        ErrorCode.DAILY_SPEND_EXHAUSTED: ErrorRow(
            _TOO_MANY, "The chat has used up its budget for today. Please come back tomorrow.", 3_600
        ),
        ErrorCode.LEDGER_UNAVAILABLE: ErrorRow(
            _INTERNAL, "The day's budget cannot be checked. Please try again later."
        ),
        ErrorCode.THROTTLED: ErrorRow(_TOO_MANY, "There are too many requests at once. Please try again.", 1),
        # Answering: documents, the prompt, the provider, and internal failures.
        ErrorCode.DOCUMENTS_UNAVAILABLE: ErrorRow(
            _UNAVAILABLE, "The documentation cannot be read. Please try again in a moment.", 30
        ),
        ErrorCode.MISCONFIGURED: ErrorRow(_INTERNAL, "The chat is not set up completely."),
        ErrorCode.PROMPT_TOO_LARGE: ErrorRow(
            _TOO_LARGE, "The question is too large to be answered. Please shorten it."
        ),
        ErrorCode.PROVIDER_OVERLOADED: ErrorRow(
            _UNAVAILABLE, "The language model is busy. Please try again in a moment.", 10
        ),
        ErrorCode.PROVIDER_TIMEOUT: ErrorRow(
            HTTPStatus.GATEWAY_TIMEOUT, "The language model took too long. Please try again."
        ),
        ErrorCode.PROVIDER_REFUSED: ErrorRow(
            _BAD_GATEWAY, "The language model declined to answer this. Please ask in another way."
        ),
        ErrorCode.PROVIDER_CONTEXT_OVERFLOW: ErrorRow(
            _BAD_GATEWAY, "The conversation is too long for the language model. Please start a new one."
        ),
        ErrorCode.PROVIDER_TRUNCATED: ErrorRow(
            _BAD_GATEWAY, "The answer would be too long. Please ask for something smaller."
        ),
        ErrorCode.PROVIDER_REJECTED: ErrorRow(_BAD_GATEWAY, "The language model did not accept the request."),
        ErrorCode.PROVIDER_FAILED: ErrorRow(_BAD_GATEWAY, "The language model failed. Please try again."),
        ErrorCode.INTERNAL_ERROR: ErrorRow(_INTERNAL, "Something went wrong on our side. Please try again later."),
    }
)


class MethodNotAllowed(FencepostError):
    """The path does not support the method. `allow` lists those that it supports (RFC 9110, section 15.5.6)."""

    def __init__(self, *methods: str) -> None:
        super().__init__(ErrorCode.METHOD_NOT_ALLOWED)
        self.allow = ", ".join((*methods, "OPTIONS"))


class InvalidFields(FencepostError):
    """Invalid settings. `fields` lists the paths of the invalid fields, as our models name them."""

    def __init__(self, code: ErrorCode, fields: Iterable[str]) -> None:
        super().__init__(code)
        self.fields = tuple(fields)


_WAIT_IN_BODY = frozenset({ErrorCode.DAILY_CALLS_EXHAUSTED, ErrorCode.DAILY_SPEND_EXHAUSTED})


def error_response(error: FencepostError, request_id: str) -> Response:
    """Return the answer to an error: its row's sentence, its code, the request's id, and the headers that it needs.

    `Retry-After` and the body's `retryAfter` are seconds.
    """
    row = ERRORS[error.code]
    wait = error.retry_after or row.retry_after
    body: dict[str, object] = {"error": row.sentence, "code": error.code, "requestId": request_id}
    if error.code in _WAIT_IN_BODY:
        body["retryAfter"] = wait
    if isinstance(error, InvalidFields):
        body["fields"] = error.fields
    headers = {"Retry-After": str(wait)} if row.retry_after else {}
    if row.status is _UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = error.allow
    return json_response(error.code, row.status, body, headers)
