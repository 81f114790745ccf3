"""Error codes, and the exceptions that carry them.

    FencepostError              a request or job fails with an `ErrorCode`
    └── Denied                  (`fencepost.identity.domain.scope`) sent as `not_found`
    DocumentsUnreachable        a remote file cannot be fetched

Message and HTTP status of each code are in one table, `fencepost.http.errors`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal


class ErrorCode(StrEnum):
    """The `code` of an error response. A released code never changes its meaning."""

    # The request cannot be read.
    BODY_TOO_LARGE = "body_too_large"
    INVALID_JSON = "invalid_json"
    NOT_AN_OBJECT = "not_an_object"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    NOT_FOUND = "not_found"
    ORIGIN_NOT_ALLOWED = "origin_not_allowed"
    REQUEST_REFUSED = "request_refused"
    QUERY_INVALID = "query_invalid"
    CURSOR_INVALID = "cursor_invalid"
    # The caller.
    TOKEN_MISSING = "token_missing"  # noqa: S105 - a code, no password
    TOKEN_INVALID = "token_invalid"  # noqa: S105 - a code, no password
    TOKEN_EXPIRED = "token_expired"  # noqa: S105 - a code, no password
    IDENTITY_UNAVAILABLE = "identity_unavailable"
    ORGANISATION_MISSING = "organisation_missing"
    SITE_MISSING = "site_missing"
    SITE_UNKNOWN = "site_unknown"
    # The message.
    MESSAGE_MISSING = "message_missing"
    MESSAGE_NOT_A_STRING = "message_not_a_string"
    MESSAGE_BLANK = "message_blank"
    MESSAGE_TOO_LONG = "message_too_long"
    INPUT_REFUSED = "input_refused"
    # The conversation.
    MESSAGE_ID_INVALID = "message_id_invalid"
    MESSAGE_ID_REUSED = "message_id_reused"
    CONVERSATION_ID_INVALID = "conversation_id_invalid"
    CONVERSATION_BUSY = "conversation_busy"
    SITE_MISMATCH = "site_mismatch"
    CONVERSATIONS_UNAVAILABLE = "conversations_unavailable"
    ANSWER_MISSING = "answer_missing"
    REGENERATE_NOT_LAST = "regenerate_not_last"
    IDEMPOTENCY_KEY_INVALID = "idempotency_key_invalid"
    TITLE_INVALID = "title_invalid"
    RATING_INVALID = "rating_invalid"
    FACTS_INVALID = "facts_invalid"
    FACTS_TOO_LARGE = "facts_too_large"
    CARRY_NOT_ALLOWED = "carry_not_allowed"
    CARRY_INVALID = "carry_invalid"
    SUMMARY_ID_INVALID = "summary_id_invalid"
    SUMMARY_MISSING = "summary_missing"
    SUMMARY_NOT_APPROVED = "summary_not_approved"
    # Files.
    ATTACHMENTS_INVALID = "attachments_invalid"
    ATTACHMENT_INVALID = "attachment_invalid"
    ATTACHMENT_TYPE_UNSUPPORTED = "attachment_type_unsupported"
    ATTACHMENT_TOO_LARGE = "attachment_too_large"
    ATTACHMENT_NOT_READY = "attachment_not_ready"
    ATTACHMENT_UNREADABLE = "attachment_unreadable"
    IMPORT_INVALID = "import_invalid"
    BUNDLE_INVALID = "bundle_invalid"
    BUNDLE_FOREIGN = "bundle_foreign"
    BUNDLE_TOO_LARGE = "bundle_too_large"
    BUNDLE_VERSION_UNSUPPORTED = "bundle_version_unsupported"
    IMPORT_CONFLICT = "import_conflict"
    # Documents.
    DOCUMENT_INVALID = "document_invalid"
    DOCUMENT_TYPE_UNSUPPORTED = "document_type_unsupported"
    DOCUMENT_TOO_LARGE = "document_too_large"
    DOCUMENT_UNREADABLE = "document_unreadable"
    DOCUMENT_NOT_UPLOADED = "document_not_uploaded"
    DOCUMENT_BUSY = "document_busy"
    SOURCE_UNREACHABLE = "source_unreachable"
    SOURCE_EMPTY = "source_empty"
    RETRIEVAL_DISABLED = "retrieval_disabled"
    INDEX_UNAVAILABLE = "index_unavailable"
    EMBEDDER_UNAVAILABLE = "embedder_unavailable"
    # Administration.
    ADMIN_INPUT_INVALID = "admin_input_invalid"
    SITE_KEY_TAKEN = "site_key_taken"
    SETTINGS_CHANGED = "settings_changed"
    LAST_ADMIN = "last_admin"
    DIAGNOSIS_INVALID = "diagnosis_invalid"
    DIAGNOSIS_ENDED = "diagnosis_ended"
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
    # Inputs of an answer.
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
    # Unexpected exceptions.
    INTERNAL_ERROR = "internal_error"


class FencepostError(Exception):
    """A failure with an error code. It contains nothing of the request: no input, no address, no provider message.

    Args:
        code: the error code.
        retry_after: whole seconds after which a retry may succeed; None if unknown.
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
    """A remote file cannot be fetched. `reason` is logged."""

    def __init__(self, reason: UnreachableReason) -> None:
        super().__init__(reason)
        self.reason = reason
