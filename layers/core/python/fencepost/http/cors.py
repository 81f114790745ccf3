"""Which pages may call the API, and how their browsers are told (the Fetch standard's CORS protocol)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from fencepost.http.proxy import Headers, Request, ResponseOutcome
from fencepost.identity.domain.sites import Origin, parse_origin
from fencepost.kernel.errors import ErrorCode

_EXPOSED: Headers = MappingProxyType({"Access-Control-Expose-Headers": "Retry-After, X-Request-Id"})
# Chromium keeps a preflight's answer for two hours at most.
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
        """Say whether the request may be served: no page made it, or an allowed one."""
        ...

    def headers(self, request: Request, outcome: ResponseOutcome) -> dict[str, str]:
        """Return the headers of an answer to this request, by how it ended."""
        ...


@dataclass(frozen=True, slots=True)
class ListedOrigins:
    """Serves the pages on the list, and the API's own. An opaque origin (`null`) is on no list."""

    listed: Collection[Origin]

    def allows(self, request: Request) -> bool:
        """Say whether no page made the request, or an allowed one."""
        return request.origin is None or self._is_allowed(request.origin, request.host)

    def headers(self, request: Request, outcome: ResponseOutcome) -> dict[str, str]:  # noqa: ARG002 - the port's signature
        """Echo an allowed origin. `Vary` stands on every answer, or a cache would serve one page's to another."""
        headers = {"Vary": "Origin"}
        if request.origin is not None and self.allows(request):
            headers |= _grant(request, request.origin, _CHAT)
        return headers

    def _is_allowed(self, origin: str, host: str | None) -> bool:
        parsed = _parsed(origin)
        return parsed is not None and (parsed in self.listed or parsed == _own(host))


@dataclass(frozen=True, slots=True)
class SiteOrigins:
    """Serves the pages on the deployment's list, the API's own, and those of the caller's sites.

    A preflight bears no token, so it cannot be told whose sites it is about: any page may ask. Nothing is given away by
    that, since no browser adds a token by itself. A page that is told no does not even get to read it.
    """

    listed: Collection[Origin]

    def allows(self, request: Request) -> bool:
        """Say whether the request may be looked at: no page made it, or one that has an origin."""
        return request.origin is None or _parsed(request.origin) is not None

    def serves(self, request: Request, sites: Callable[[], Collection[Origin]]) -> bool:
        """Say whether the request may be answered. The caller's sites are asked last, and seldom."""
        if request.origin is None:
            return True
        origin = _parsed(request.origin)
        return origin is not None and (origin in self.listed or origin == _own(request.host) or origin in sites())

    def headers(self, request: Request, outcome: ResponseOutcome) -> dict[str, str]:
        """Echo the origin, unless it was the reason to refuse."""
        headers = {"Vary": "Origin"}
        if request.origin is not None and self.allows(request) and outcome is not ErrorCode.ORIGIN_NOT_ALLOWED:
            headers |= _grant(request, request.origin, _API)
        return headers


@dataclass(frozen=True, slots=True)
class AnyOrigin:
    """Serves every page: for the demo, which has nothing to protect."""

    def allows(self, request: Request) -> bool:  # noqa: ARG002 - the port's signature
        """Say yes."""
        return True

    def headers(self, request: Request, outcome: ResponseOutcome) -> dict[str, str]:  # noqa: ARG002 - the port's signature
        """Answer `*`, whatever the origin."""
        return _grant(request, "*", _CHAT)


def _grant(request: Request, origin: str, preflight: Headers) -> dict[str, str]:
    return {"Access-Control-Allow-Origin": origin, **_EXPOSED, **(preflight if request.method == "OPTIONS" else {})}


def _parsed(origin: str) -> Origin | None:
    """Return the origin; None for an opaque one (`null`), and for what is none."""
    try:
        return parse_origin(origin)
    except ValueError:
        return None


def _own(host: str | None) -> Origin | None:
    return None if host is None else parse_origin(f"https://{host}")
