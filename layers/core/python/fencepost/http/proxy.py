"""Requests and responses in the format of API Gateway's proxy integration (REST API, payload format 1.0).

The gateway matches resources, and a function is invoked for its own resources only. This module imports next to
nothing, where a web framework would add a tenth of a second to each cold start.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Literal, TypedDict

from fencepost.kernel.errors import ErrorCode

type Headers = Mapping[str, str]
type ResponseOutcome = ErrorCode | Literal["answered", "done", "demo", "preflight"]

STANDING_HEADERS: Headers = MappingProxyType(
    {
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "Strict-Transport-Security": "max-age=31536000",
        "X-Content-Type-Options": "nosniff",
    }
)
"""Headers of every response: data for one visitor, never a page. Browsers ignore HSTS over http."""

_GREEDY = "{proxy+}"


class ProxyResponse(TypedDict):
    """The result that the proxy integration expects of a function."""

    statusCode: int
    headers: dict[str, str]
    body: str
    isBase64Encoded: bool


@dataclass(frozen=True, slots=True)
class Request:
    """One request; its body is not decoded yet.

    Attributes:
        resource: the gateway's path template, e.g. `/api/ai-chat`, without stage and base path.
        headers: values by lower-case names.
        text: the body as the gateway passed it: text, or Base64 where `is_base64` is set.
        source_ip: the TCP peer as the gateway saw it.
        host: the API's domain name; None where the gateway names none.
        id: the gateway's id of the request.
        path: the requested path, percent-encoded, without stage and base path.
        query: the query parameters, decoded; of a repeated name the last value.
    """

    method: str
    resource: str
    headers: Headers
    text: str
    is_base64: bool
    source_ip: str
    host: str | None
    id: str
    path: str = ""
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> str | None:
        """The `Origin` header as received; None for non-browser clients."""
        return self.headers.get("origin")

    def body(self) -> bytes:
        """Decode the body.

        Raises:
            ValueError: it is not valid Base64.
        """
        return base64.b64decode(self.text, validate=True) if self.is_base64 else self.text.encode()


def is_json(request: Request) -> bool:
    """Return whether the media type is JSON (RFC 9110, 8.3.1). Parameters are ignored: JSON has none (RFC 8259)."""
    return request.headers.get("content-type", "").partition(";")[0].strip(" \t").lower() == "application/json"


def parse_event(event: Mapping[str, Any]) -> Request:
    """Parse a proxy event. Absent values become empty: later checks decide which are required."""
    context = event.get("requestContext") or {}
    return Request(
        method=event.get("httpMethod") or "",
        resource=event.get("resource") or "",
        headers={name.lower(): value for name, value in (event.get("headers") or {}).items()},
        text=event.get("body") or "",
        is_base64=bool(event.get("isBase64Encoded")),
        source_ip=(context.get("identity") or {}).get("sourceIp") or "",
        host=context.get("domainName"),
        id=context.get("requestId") or "",
        path=_path(event),
        query=event.get("queryStringParameters") or {},
    )


def _path(event: Mapping[str, Any]) -> str:
    """Return the event's path, without the base path that a custom domain may prepend.

    `pathParameters` have no base path either, but AWS does not document whether they are decoded.
    """
    literal, greedy, _ = (event.get("resource") or "").partition(_GREEDY)
    return literal + (event.get("path") or "").partition(literal)[2] if greedy else literal


@dataclass(frozen=True, slots=True)
class Response:
    """One response, and the outcome that is reported."""

    outcome: ResponseOutcome
    status: int = HTTPStatus.OK
    headers: Headers = field(default_factory=dict)
    body: str = ""


def json_response(outcome: ResponseOutcome, status: int, content: object, headers: Headers | None = None) -> Response:
    """Return a JSON response in pure ASCII, which no gateway, proxy or log can misread."""
    typed = {"Content-Type": "application/json; charset=utf-8", **(headers or {})}
    return Response(outcome, status, typed, json.dumps(content))


def proxy_response(request: Request, response: Response, extra: Headers) -> ProxyResponse:
    """Return the integration's result: the response with the standing headers, the request's id and `extra`."""
    return {
        "statusCode": int(response.status),
        "headers": {**STANDING_HEADERS, "X-Request-Id": request.id, **response.headers, **extra},
        # A response to HEAD has no body (RFC 9110, section 9.3.2).
        "body": "" if request.method == "HEAD" else response.body,
        "isBase64Encoded": False,
    }
