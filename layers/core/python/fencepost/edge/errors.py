"""The one table of errors: what each code answers."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import NamedTuple

from fencepost.domain.conversation import MAX_HISTORY_CHARACTERS, MAX_HISTORY_ENTRIES, MAX_MESSAGE_CHARACTERS
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.edge.http import Response, json_response


class ErrorRow(NamedTuple):
    """An error's HTTP status, its sentence, and the seconds to wait where the error itself knows none."""

    status: HTTPStatus
    sentence: str
    retry_after: int | None = None


_BAD_REQUEST = HTTPStatus.BAD_REQUEST
_TOO_MANY = HTTPStatus.TOO_MANY_REQUESTS
_INTERNAL = HTTPStatus.INTERNAL_SERVER_ERROR
_BAD_GATEWAY = HTTPStatus.BAD_GATEWAY
_UNAVAILABLE = HTTPStatus.SERVICE_UNAVAILABLE

ERRORS: Mapping[ErrorCode, ErrorRow] = MappingProxyType(
    {
        ErrorCode.BODY_TOO_LARGE: ErrorRow(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is larger than 2 MiB. Please send less."
        ),
        ErrorCode.INVALID_JSON: ErrorRow(_BAD_REQUEST, "The request body is not valid JSON."),
        ErrorCode.NOT_AN_OBJECT: ErrorRow(_BAD_REQUEST, "The request body must be a JSON object."),
        ErrorCode.UNSUPPORTED_MEDIA_TYPE: ErrorRow(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The request's Content-Type must be application/json."
        ),
        ErrorCode.METHOD_NOT_ALLOWED: ErrorRow(HTTPStatus.METHOD_NOT_ALLOWED, "Method not allowed"),
        ErrorCode.NOT_FOUND: ErrorRow(HTTPStatus.NOT_FOUND, "There is nothing at this address."),
        ErrorCode.ORIGIN_NOT_ALLOWED: ErrorRow(HTTPStatus.FORBIDDEN, "This site is not allowed to use the chat."),
        # The gateway's own: its firewall, a signature, an expired token.
        ErrorCode.REQUEST_REFUSED: ErrorRow(HTTPStatus.FORBIDDEN, "The request was refused."),
        ErrorCode.MESSAGE_MISSING: ErrorRow(_BAD_REQUEST, "Please send a message."),
        ErrorCode.MESSAGE_NOT_A_STRING: ErrorRow(_BAD_REQUEST, "The message must be a text."),
        ErrorCode.MESSAGE_BLANK: ErrorRow(_BAD_REQUEST, "The message is empty. Please write something."),
        ErrorCode.MESSAGE_TOO_LONG: ErrorRow(
            _BAD_REQUEST, f"The message is longer than {MAX_MESSAGE_CHARACTERS:,} characters. Please shorten it."
        ),
        ErrorCode.INPUT_REFUSED: ErrorRow(
            _BAD_REQUEST, "Sorry, this cannot be answered here. Please ask a question about the product."
        ),
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
        ErrorCode.DOCUMENTS_UNAVAILABLE: ErrorRow(
            _UNAVAILABLE, "The documentation cannot be read. Please try again in a moment.", 30
        ),
        ErrorCode.MISCONFIGURED: ErrorRow(_INTERNAL, "The chat is not set up completely."),
        ErrorCode.PROMPT_TOO_LARGE: ErrorRow(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The question is too large to be answered. Please shorten it."
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

_NAMES_THE_WAIT = frozenset({ErrorCode.DAILY_CALLS_EXHAUSTED, ErrorCode.DAILY_SPEND_EXHAUSTED})


def error_response(error: FencepostError, request_id: str) -> Response:
    """Answer an error: its row's sentence, its code, the request's id, and when to come back where that is known."""
    row = ERRORS[error.code]
    wait = error.retry_after or row.retry_after
    body: dict[str, object] = {"error": row.sentence, "code": error.code, "requestId": request_id}
    if error.code in _NAMES_THE_WAIT:
        body["retryAfter"] = wait
    headers = {"Retry-After": str(wait)} if row.retry_after else {}
    if error.code is ErrorCode.METHOD_NOT_ALLOWED:
        headers["Allow"] = "POST, OPTIONS"
    return json_response(error.code, row.status, body, headers)
