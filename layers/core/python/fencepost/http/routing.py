"""From a method and a path to what answers: a table of our own, which costs a cold start nothing (docs/adr/0007)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from fencepost.http.errors import MethodNotAllowed
from fencepost.http.proxy import Request, Response
from fencepost.identity.domain.scope import Action, Caller, Resource, Scope, authorize, own
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.observability.service import Trace


@dataclass(frozen=True, slots=True)
class Call:
    """One request on its way to the route that answers it.

    Attributes:
        params: what stands in the path's places, by their names, decoded: one visible ASCII word each.
        caller: who asks, with the membership of this moment; None on public routes alone.
        decide: `authorize`, or what reports its decisions as well.
    """

    request: Request
    trace: Trace
    params: Mapping[str, str]
    caller: Caller | None = None
    decide: Callable[[Caller, Action, Resource], Scope] = authorize

    def require_caller(self) -> Caller:
        """The caller of a route that is not public.

        Raises:
            FencepostError: `token_missing`.
        """
        if self.caller is None:
            raise FencepostError(ErrorCode.TOKEN_MISSING)
        return self.caller

    def scope(self, action: Action) -> Scope:
        """Authorise an action on the caller's own data.

        Raises:
            Denied: as if there were nothing.
        """
        return self.decide(self.require_caller(), action, own(self.require_caller()))


class Route(NamedTuple):
    """What answers one method at one path, e.g. `GET /v1/conversations/{id}`.

    Attributes:
        public: asks for no token.
        paid: may call the model, and counts against an address's limits of that.
        leaving: serves the visitors of a closed site too: what they said stays theirs to take away and to erase.
    """

    method: str
    path: str
    handle: Callable[[Call], Response]
    public: bool = False
    paid: bool = False
    leaving: bool = False


class _Place(NamedTuple):
    pattern: re.Pattern[str]
    routes: Mapping[str, Route]


class Router:
    """Finds routes. Where a literal path and one with places both match, the literal one is meant."""

    def __init__(self, routes: Iterable[Route]) -> None:
        places: defaultdict[str, dict[str, Route]] = defaultdict(dict)
        for route in routes:
            places[route.path][route.method] = route
        literal_first = sorted(places, key=lambda path: path.count("{"))
        self._places = [_Place(_pattern(path), places[path]) for path in literal_first]

    @property
    def routes(self) -> tuple[Route, ...]:
        """All routes."""
        return tuple(route for place in self._places for route in place.routes.values())

    def find(self, method: str, path: str) -> tuple[Route | None, Mapping[str, str]]:
        """Return the route and the values of its places; no route where a preflight asks about a path.

        Raises:
            FencepostError: `not_found`, or `method_not_allowed` as a `MethodNotAllowed`.
        """
        for place in self._places:
            if match := place.pattern.fullmatch(path):
                return _choose(place, method), {name: unquote(part) for name, part in match.groupdict().items()}
        raise FencepostError(ErrorCode.NOT_FOUND)


def _choose(place: _Place, method: str) -> Route | None:
    if method == "OPTIONS":
        return None
    if method not in place.routes:
        raise MethodNotAllowed(*place.routes)
    return place.routes[method]


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(path)))
