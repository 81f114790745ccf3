"""The provider's error responses."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import JSONResponse

_KINDS = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_SERVER_ERRORS = 500


class ApiError(Exception):
    """Error that is sent as an error response.

    Args:
        status: the HTTP status.
        message: the provider's sentence.
        headers: sent with the response, e.g. `retry-after`.
    """

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})

    def response(self) -> JSONResponse:
        """Return the error as the provider sends it."""
        default = "api_error" if self.status >= _SERVER_ERRORS else "invalid_request_error"
        body = error_body(_KINDS.get(self.status, default), self.message)
        return JSONResponse(body, self.status, self.headers | {"request-id": "req_stand_in"})


def error_body(kind: str, message: str) -> dict[str, object]:
    """Return the body of an error response, which is also the data of an SSE `error` event."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_stand_in"}
