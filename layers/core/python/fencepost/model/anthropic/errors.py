"""Errors of the SDK as `ModelError`: error code, cost, and time of a retry.

A request that the provider refused, or that was never sent, costs nothing. In all other cases the cost is unknown
(`usage=None`). Source: "Errors" and "Streaming" on platform.claude.com, read in October 2026.
"""

from __future__ import annotations

import re

import anthropic
import httpx2

from fencepost.kernel.errors import ErrorCode
from fencepost.kernel.money import Usage
from fencepost.model.domain import ModelError

DEFAULT_RETRY_SECONDS = 5
MAX_RETRY_SECONDS = 300

_FREE = Usage()
# The HTTP client raises these before the first byte of a request leaves: `LocalProtocolError` when the head of the
# request is not valid HTTP, `UnicodeEncodeError` when a header or the body cannot be encoded.
_NEVER_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
    httpx2.InvalidURL,
    UnicodeEncodeError,
)

_REFUSALS = range(300, 500)
_OVERLOADED = 529
_OVERLOADS = (429, _OVERLOADED)
_TIMEOUTS = (408, 504)
_REJECTING = frozenset({"invalid_request_error", "authentication_error", "permission_error", "not_found_error"})


def failure_of(error: Exception) -> ModelError:
    """Return the `ModelError` for an exception of the SDK, its HTTP client or asyncio, without its text."""
    match error:
        case anthropic.APIStatusError():
            return _answered(error)
        case anthropic.APIConnectionError():
            return _unanswered(error.__cause__)
        case TimeoutError() | httpx2.TimeoutException():
            return ModelError(ErrorCode.PROVIDER_TIMEOUT, usage=None)
        case _:
            return _unanswered(error)


def _unanswered(cause: BaseException | None) -> ModelError:
    timed_out = isinstance(cause, httpx2.TimeoutException)
    code = ErrorCode.PROVIDER_TIMEOUT if timed_out else ErrorCode.PROVIDER_FAILED
    return ModelError(code, usage=_FREE if isinstance(cause, _NEVER_SENT) else None)


def _answered(error: anthropic.APIStatusError) -> ModelError:
    code, wait = _code(error), None
    if code is ErrorCode.PROVIDER_OVERLOADED:
        # A date, or a malformed value, counts as none.
        named = re.fullmatch(r"\d{1,9}", error.response.headers.get("retry-after", ""), re.ASCII)
        wait = min(max(int(named[0]), 1), MAX_RETRY_SECONDS) if named else DEFAULT_RETRY_SECONDS
    # After a refusal no model ran. A model may have run before a 5xx, or a failure in mid-stream, whose status is 200.
    refused = (
        error.status_code in _REFUSALS and error.status_code not in _TIMEOUTS
    ) or error.status_code == _OVERLOADED
    return ModelError(code, usage=_FREE if refused else None, retry_after=wait)


def _code(error: anthropic.APIStatusError) -> ErrorCode:
    status, kind = error.status_code, error.type
    if status in _OVERLOADS or kind in ("overloaded_error", "rate_limit_error"):
        return ErrorCode.PROVIDER_OVERLOADED
    if status in _TIMEOUTS or kind == "timeout_error":
        return ErrorCode.PROVIDER_TIMEOUT
    # The provider has no code for a prompt beyond the context window, only this sentence.
    if isinstance(error, anthropic.ContentTooLargeError) or (
        isinstance(error, anthropic.BadRequestError) and "too long" in str(error.api_message).lower()
    ):
        return ErrorCode.PROVIDER_CONTEXT_OVERFLOW
    if status in _REFUSALS or kind in _REJECTING:
        return ErrorCode.PROVIDER_REJECTED
    return ErrorCode.PROVIDER_FAILED
