"""HTTP as a REST API's proxy integration speaks it: events come in, answers go out.

The gateway routes: a function is invoked for its own resource and no other. What is left for us is small, and imports
next to nothing, where a router of our own would add a tenth of a second to each cold start.
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
"""On every answer: it is data for one visitor, never a page. HSTS is ignored by browsers where the scheme is http."""

_GREEDY = "{proxy+}"


class ProxyResponse(TypedDict):
    """What the proxy integration expects of a function."""

    statusCode: int
    headers: dict[str, str]
    body: str
    isBase64Encoded: bool


@dataclass(frozen=True, slots=True)
class Request:
    """One request, undecoded.

    Attributes:
        resource: the gateway's path template, e.g. `/api/ai-chat`, free of stage and base path.
        headers: by their names in lower case.
        text: the body as the gateway passed it: text, or Base64 where `is_base64` says so.
        source_ip: the TCP peer as the gateway saw it.
        host: the API's own domain name, where the gateway tells it.
        id: the gateway's id of the request.
        path: the path of this very request, still percent-encoded, free of stage and base path.
        query: its parameters, decoded; the last one where a name comes twice.
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
        """The `Origin` header as it came; None where no page made the request."""
        return self.headers.get("origin")

    def body(self) -> bytes:
        """Decode the body.

        Raises:
            ValueError: it is not what the gateway says it is.
        """
        return base64.b64decode(self.text, validate=True) if self.is_base64 else self.text.encode()


def is_json(request: Request) -> bool:
    """Compare the media type (RFC 9110, section 8.3.1). JSON defines no parameters: they change nothing (RFC 8259)."""
    return request.headers.get("content-type", "").partition(";")[0].strip(" \t").lower() == "application/json"


def parse_event(event: Mapping[str, Any]) -> Request:
    """Read a proxy event (payload format 1.0). What is absent becomes empty: the rules decide what is needed."""
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
    """Return the event's path, without the base path that a domain may put before it.

    `pathParameters` are free of that too, but whether they are decoded is nowhere promised.
    """
    literal, greedy, _ = (event.get("resource") or "").partition(_GREEDY)
    return literal + (event.get("path") or "").partition(literal)[2] if greedy else literal


@dataclass(frozen=True, slots=True)
class Response:
    """One answer, and how the request ended."""

    outcome: ResponseOutcome
    status: int = HTTPStatus.OK
    headers: Headers = field(default_factory=dict)
    body: str = ""


def json_response(outcome: ResponseOutcome, status: int, content: object, headers: Headers | None = None) -> Response:
    """Answer with JSON in pure ASCII, which no gateway, proxy or log on the way can misread."""
    typed = {"Content-Type": "application/json; charset=utf-8", **(headers or {})}
    return Response(outcome, status, typed, json.dumps(content))


def proxy_response(request: Request, response: Response, extra: Headers) -> ProxyResponse:
    """Build the integration's answer, with the headers that every answer bears."""
    return {
        "statusCode": int(response.status),
        "headers": {**STANDING_HEADERS, "X-Request-Id": request.id, **response.headers, **extra},
        # An answer to HEAD has no body (RFC 9110, section 9.3.2).
        "body": "" if request.method == "HEAD" else response.body,
        "isBase64Encoded": False,
    }
