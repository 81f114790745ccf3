"""Origin policies: which pages may call the API, and the response headers of the CORS protocol (Fetch standard)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from fencepost.http.proxy import Headers, Request, ResponseOutcome
from fencepost.identity.domain.sites import Origin, parse_origin
from fencepost.kernel.errors import ErrorCode

_EXPOSED: Headers = MappingProxyType({"Access-Control-Expose-Headers": "Retry-After, X-Request-Id"})
# Seconds. Chromium caches a preflight's answer for two hours at most.
_MAX_AGE: Headers = MappingProxyType({"Access-Control-Max-Age": "7200"})
_CHAT: Headers = MappingProxyType(
    {"Access-Control-Allow-Methods": "POST, OPTIONS", "Access-Control-Allow-Headers": "Content-Type", **_MAX_AGE}
)
_API: Headers = MappingProxyType(
    {
        "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE, OPTIONS",
        "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, X-Org-Id",
        **_MAX_AGE,
    }
)


class CorsPolicy(Protocol):
    """Decides on a request by its `Origin` header."""

    def allows(self, request: Request) -> bool:
        """Return whether the request may be served. Non-browser clients send no `Origin` and are allowed."""
        ...

    def headers(self, request: Request, outcome: ResponseOutcome) -> dict[str, str]:
        """Return the CORS headers of the response with this outcome."""
        ...


@dataclass(frozen=True, slots=True)
class ListedOrigins:
    """Allows the listed origins and the API's own. Opaque origins (`null`) are never allowed."""

    listed: Collection[Origin]

    def allows(self, request: Request) -> bool:
        """Return whether the request has no `Origin`, or an allowed one."""
        if request.origin is None:
            return True
        origin = _parsed(request.origin)
        return origin is not None and (origin in self.listed or origin == _own(request.host))

    def headers(self, request: Request, outcome: ResponseOutcome) -> dict[str, str]:  # noqa: ARG002 - the port's signature
        """Echo an allowed origin. Every response has `Vary`, or a cache would serve one page's response to another."""
        headers = {"Vary": "Origin"}
        if request.origin is not None and self.allows(request):
            headers |= _grant(request, request.origin, _CHAT)
        return headers


@dataclass(frozen=True, slots=True)
class SiteOrigins:
    """Allows the deployment's listed origins, the API's own, and those of the caller's sites.

    A preflight carries no token, so its caller is unknown and every origin is granted. That discloses nothing, since
    browsers do not add tokens by themselves. A page whose request is then refused cannot read the refusal.
    """

    listed: Collection[Origin]

    def allows(self, request: Request) -> bool:
        """Return whether the request has no `Origin`, or a valid one. `serves` decides once the caller is known."""
        return request.origin is None or _parsed(request.origin) is not None

    def serves(self, request: Request, sites: Callable[[], Collection[Origin]]) -> bool:
        """Return whether the request's origin is allowed.

        Args:
            request: the request.
            sites: returns the origins of the caller's sites. Called last, since it may read the store.
        """
        if request.origin is None:
            return True
        origin = _parsed(request.origin)
        return origin is not None and (origin in self.listed or origin == _own(request.host) or origin in sites())

    def headers(self, request: Request, outcome: ResponseOutcome) -> dict[str, str]:
        """Echo the origin, unless the request was refused because of it."""
        headers = {"Vary": "Origin"}
        if request.origin is not None and self.allows(request) and outcome is not ErrorCode.ORIGIN_NOT_ALLOWED:
            headers |= _grant(request, request.origin, _API)
        return headers


@dataclass(frozen=True, slots=True)
class AnyOrigin:
    """Allows every origin: for the demo, which has no data to protect."""

    def allows(self, request: Request) -> bool:  # noqa: ARG002 - the port's signature
        """Return True."""
        return True

    def headers(self, request: Request, outcome: ResponseOutcome) -> dict[str, str]:  # noqa: ARG002 - the port's signature
        """Grant `*` to every origin."""
        return _grant(request, "*", _CHAT)


def _grant(request: Request, origin: str, preflight: Headers) -> dict[str, str]:
    return {"Access-Control-Allow-Origin": origin, **_EXPOSED, **(preflight if request.method == "OPTIONS" else {})}


def _parsed(origin: str) -> Origin | None:
    """Return the origin; None for an opaque (`null`) or invalid one."""
    try:
        return parse_origin(origin)
    except ValueError:
        return None


def _own(host: str | None) -> Origin | None:
    return None if host is None else parse_origin(f"https://{host}")
