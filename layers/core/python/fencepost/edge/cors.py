"""Which pages may call the API, and how their browsers are told (the Fetch standard's CORS protocol)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from fencepost.domain.origins import Origin, parse_origin
from fencepost.edge.http import Headers, Request

_EXPOSED: Headers = MappingProxyType({"Access-Control-Expose-Headers": "Retry-After, X-Request-Id"})
_PREFLIGHT: Headers = MappingProxyType(
    {
        "Access-Control-Allow-Methods": "POST, OPTIONS",
        "Access-Control-Allow-Headers": "Content-Type",
        # Chromium keeps a preflight's answer for two hours at most.
        "Access-Control-Max-Age": "7200",
    }
)


class CorsPolicy(Protocol):
    """Decides on a request by its `Origin` header."""

    def allows(self, request: Request) -> bool:
        """Say whether the request may be served: no page made it, or an allowed one."""
        ...

    def headers(self, request: Request) -> dict[str, str]:
        """Return the headers of an answer to this request."""
        ...


@dataclass(frozen=True, slots=True)
class ListedOrigins:
    """Serves the pages on the list, and the API's own. An opaque origin (`null`) is on no list."""

    listed: Collection[Origin]

    def allows(self, request: Request) -> bool:
        """Say whether no page made the request, or an allowed one."""
        return request.origin is None or self._is_allowed(request.origin, request.host)

    def headers(self, request: Request) -> dict[str, str]:
        """Echo an allowed origin. `Vary` stands on every answer, or a cache would serve one page's to another."""
        headers = {"Vary": "Origin"}
        if request.origin is not None and self.allows(request):
            headers |= _grant(request, request.origin)
        return headers

    def _is_allowed(self, origin: str, host: str | None) -> bool:
        try:
            parsed = parse_origin(origin)
        except ValueError:
            return False
        return parsed in self.listed or (host is not None and parsed == parse_origin(f"https://{host}"))


@dataclass(frozen=True, slots=True)
class AnyOrigin:
    """Serves every page: for the demo, which has nothing to protect."""

    def allows(self, request: Request) -> bool:  # noqa: ARG002 - the port's signature
        """Say yes."""
        return True

    def headers(self, request: Request) -> dict[str, str]:
        """Answer `*`, whatever the origin."""
        return _grant(request, "*")


def _grant(request: Request, origin: str) -> dict[str, str]:
    preflight = _PREFLIGHT if request.method == "OPTIONS" else {}
    return {"Access-Control-Allow-Origin": origin, **_EXPOSED, **preflight}
