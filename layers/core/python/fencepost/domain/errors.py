"""Every way in which Fencepost refuses or fails, by its machine code.

The sentence and the HTTP status of each code stand in one table, `fencepost.edge.errors`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal


class ErrorCode(StrEnum):
    """The `code` of an error body. A code never changes its meaning once released."""

    # The request cannot be read.
    BODY_TOO_LARGE = "body_too_large"
    INVALID_JSON = "invalid_json"
    NOT_AN_OBJECT = "not_an_object"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    NOT_FOUND = "not_found"
    ORIGIN_NOT_ALLOWED = "origin_not_allowed"
    REQUEST_REFUSED = "request_refused"
    # The message.
    MESSAGE_MISSING = "message_missing"
    MESSAGE_NOT_A_STRING = "message_not_a_string"
    MESSAGE_BLANK = "message_blank"
    MESSAGE_TOO_LONG = "message_too_long"
    INPUT_REFUSED = "input_refused"
    # The history.
    HISTORY_NOT_A_LIST = "history_not_a_list"
    HISTORY_TOO_LONG = "history_too_long"
    HISTORY_ENTRY_MALFORMED = "history_entry_malformed"
    HISTORY_ROLE_INVALID = "history_role_invalid"
    HISTORY_CONTENT_TOO_LONG = "history_content_too_long"
    HISTORY_UNBALANCED = "history_unbalanced"
    HISTORY_UNSIGNED = "history_unsigned"
    # Limits and caps.
    RATE_LIMITED_MINUTE = "rate_limited_minute"
    RATE_LIMITED_DAY = "rate_limited_day"
    RATE_LIMIT_UNAVAILABLE = "rate_limit_unavailable"
    DAILY_CALLS_EXHAUSTED = "daily_calls_exhausted"
    DAILY_SPEND_EXHAUSTED = "daily_spend_exhausted"
    LEDGER_UNAVAILABLE = "ledger_unavailable"
    THROTTLED = "throttled"
    # What an answer needs.
    DOCUMENTS_UNAVAILABLE = "documents_unavailable"
    MISCONFIGURED = "misconfigured"
    PROMPT_TOO_LARGE = "prompt_too_large"
    # The provider.
    PROVIDER_OVERLOADED = "provider_overloaded"
    PROVIDER_TIMEOUT = "provider_timeout"
    PROVIDER_REFUSED = "provider_refused"
    PROVIDER_CONTEXT_OVERFLOW = "provider_context_overflow"
    PROVIDER_TRUNCATED = "provider_truncated"
    PROVIDER_REJECTED = "provider_rejected"
    PROVIDER_FAILED = "provider_failed"
    # Ours.
    INTERNAL_ERROR = "internal_error"


class FencepostError(Exception):
    """A request that ends without an answer.

    It carries a code and nothing of the request: no input, no address, no text of the provider.

    Args:
        code: what happened.
        retry_after: whole seconds after which a retry makes sense, where that is known.
    """

    def __init__(self, code: ErrorCode, *, retry_after: int | None = None) -> None:
        super().__init__(code.value)
        self.code = code
        self.retry_after = retry_after


type UnreachableReason = Literal[
    "address_refused",
    "bad_encoding",
    "bad_redirect",
    "bad_url",
    "connection",
    "dns",
    "empty",
    "html",
    "insecure_redirect",
    "not_text",
    "status",
    "timeout",
    "tls",
    "too_large",
    "too_many_redirects",
]


class DocumentsUnreachable(Exception):
    """The site's file cannot be had. `reason` is one of a few fixed words and goes into events."""

    def __init__(self, reason: UnreachableReason) -> None:
        super().__init__(reason)
        self.reason = reason
