"""Routes: one row for each, which serves requests, describes the API in OpenAPI, and is held against the template.

A room declares its rows in a `RouteGroup`, after their handlers. `fencepost.web.routes` collects the rows of all rooms.
Our own table costs a cold start nothing, where a framework's router would (docs/adr/0007).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple
from urllib.parse import unquote

from pydantic import BaseModel

from fencepost.http.body import Query
from fencepost.http.errors import MethodNotAllowed
from fencepost.http.proxy import Request, Response
from fencepost.identity.domain.scope import Action, Caller, Resource, Scope, authorize, own
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.observability.service import Trace

type Responses = Mapping[HTTPStatus, type[BaseModel] | None]
"""The body's model for each status that is no error; None for an empty body."""

COMMON_ERRORS = (
    ErrorCode.REQUEST_REFUSED,
    ErrorCode.ORIGIN_NOT_ALLOWED,
    ErrorCode.RATE_LIMITED_MINUTE,
    ErrorCode.RATE_LIMITED_DAY,
    ErrorCode.RATE_LIMIT_UNAVAILABLE,
    ErrorCode.THROTTLED,
    ErrorCode.MISCONFIGURED,
    ErrorCode.INTERNAL_ERROR,
)
"""Codes of every route: the gateway's, the address guard's, and internal failures."""
BODY_ERRORS = (
    ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    ErrorCode.BODY_TOO_LARGE,
    ErrorCode.INVALID_JSON,
    ErrorCode.NOT_AN_OBJECT,
)
TOKEN_ERRORS = (
    ErrorCode.TOKEN_MISSING,
    ErrorCode.TOKEN_INVALID,
    ErrorCode.TOKEN_EXPIRED,
    ErrorCode.IDENTITY_UNAVAILABLE,
    ErrorCode.ORGANISATION_MISSING,
    ErrorCode.NOT_FOUND,
    ErrorCode.CONVERSATIONS_UNAVAILABLE,
)
"""Codes of every route that requires a token: authentication, data that is absent or foreign, and store failures."""
PAID_ERRORS = (
    ErrorCode.DAILY_CALLS_EXHAUSTED,
    ErrorCode.DAILY_SPEND_EXHAUSTED,
    ErrorCode.LEDGER_UNAVAILABLE,
    ErrorCode.PROMPT_TOO_LARGE,
    ErrorCode.PROVIDER_OVERLOADED,
    ErrorCode.PROVIDER_TIMEOUT,
    ErrorCode.PROVIDER_REFUSED,
    ErrorCode.PROVIDER_CONTEXT_OVERFLOW,
    ErrorCode.PROVIDER_TRUNCATED,
    ErrorCode.PROVIDER_REJECTED,
    ErrorCode.PROVIDER_FAILED,
)
"""Codes of a model call: the daily caps, the prompt's size, and the provider."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request, matched to its route and authenticated.

    Attributes:
        params: values of the path's parameters by name, decoded: one visible ASCII word each.
        caller: the authenticated caller with their current membership; None on public routes only.
        decide: `authorize`, or a wrapper that reports its decisions as well.
    """

    request: Request
    trace: Trace
    params: Mapping[str, str]
    caller: Caller | None = None
    decide: Callable[[Caller, Action, Resource], Scope] = authorize

    def require_caller(self) -> Caller:
        """Return the caller.

        Raises:
            FencepostError: `token_missing`; the route is public.
        """
        if self.caller is None:
            raise FencepostError(ErrorCode.TOKEN_MISSING)
        return self.caller

    def scope(self, action: Action) -> Scope:
        """Authorise an action on the caller's own data.

        Raises:
            Denied: answered like data that does not exist.
        """
        return self.decide(self.require_caller(), action, own(self.require_caller()))


class Route[**P = [Call]](NamedTuple):
    """One method at one path, e.g. `GET /v1/conversations/{id}`: its handler, its checks, and its OpenAPI operation.

    Attributes:
        handle: answers a call. In the table of a `RouteGroup` a method that is not bound to an instance yet.
        operation_id: unique; generated clients name their method after it.
        summary: one sentence for the OpenAPI document.
        responses: models of the successful responses.
        request: model of the body; None where the route reads none.
        query: model of the query parameters; None where the route reads none.
        errors: codes that this route adds to those of its body, query, token and idempotency key.
        public: requires no token.
        paid: may call the model, so it counts against an address's limits for paid calls.
        leaving: also serves visitors of a closed site: they may still export and erase their data.
        optional_body: the body may be left out.
        idempotent: accepts an `Idempotency-Key`, so that a retry has no second effect.
    """

    method: str
    path: str
    handle: Callable[P, Response]
    operation_id: str = ""
    summary: str = ""
    responses: Responses = MappingProxyType({})
    request: type[BaseModel] | None = None
    query: type[Query] | None = None
    errors: tuple[ErrorCode, ...] = ()
    public: bool = False
    paid: bool = False
    leaving: bool = False
    optional_body: bool = False
    idempotent: bool = False

    @property
    def possible_errors(self) -> frozenset[ErrorCode]:
        """All codes that the route may answer with."""
        codes = {*self.errors, *COMMON_ERRORS}
        codes |= {*BODY_ERRORS} if self.request else set()
        codes |= {ErrorCode.QUERY_INVALID} if self.query else set()
        codes |= {ErrorCode.IDEMPOTENCY_KEY_INVALID} if self.idempotent else set()
        return frozenset(codes | (set() if self.public else {*TOKEN_ERRORS}))


def ok(model: type[BaseModel]) -> Responses:
    """Return the responses of a route that answers 200 with a body."""
    return {HTTPStatus.OK: model}


def created(model: type[BaseModel]) -> Responses:
    """Return the responses of a route that answers 201 with the created resource."""
    return {HTTPStatus.CREATED: model}


def accepted(model: type[BaseModel]) -> Responses:
    """Return the responses of a route that answers 202 and completes in the background."""
    return {HTTPStatus.ACCEPTED: model}


class RouteGroup:
    """Base of the handlers that share services.

    A subclass ends with its `table`, whose rows name the handlers above it. The table needs no instance, so the OpenAPI
    document is built without services.
    """

    __slots__ = ()
    table: ClassVar[tuple[Route[[Any, Call]], ...]]

    def routes(self) -> tuple[Route, ...]:
        """Return the table's routes with their handlers bound to this instance."""
        rows: tuple[Route[...], ...] = self.table
        return tuple(row._replace(handle=partial(row.handle, self)) for row in rows)


class _PathRoutes(NamedTuple):
    pattern: re.Pattern[str]
    routes: Mapping[str, Route]


class Router:
    """Matches methods and paths to routes. A literal path takes precedence over one with parameters."""

    def __init__(self, routes: Iterable[Route]) -> None:
        by_path: defaultdict[str, dict[str, Route]] = defaultdict(dict)
        for route in routes:
            by_path[route.path][route.method] = route
        literal_first = sorted(by_path, key=lambda path: path.count("{"))
        self._paths = [_PathRoutes(_pattern(path), by_path[path]) for path in literal_first]

    @property
    def routes(self) -> tuple[Route, ...]:
        """All routes."""
        return tuple(route for path in self._paths for route in path.routes.values())

    def find(self, method: str, path: str) -> tuple[Route | None, Mapping[str, str]]:
        """Return the route and the values of its path parameters; no route for a preflight of a known path.

        Raises:
            FencepostError: `not_found`, or `method_not_allowed` as a `MethodNotAllowed`.
        """
        for pattern, routes in self._paths:
            if match := pattern.fullmatch(path):
                if method != "OPTIONS" and method not in routes:
                    raise MethodNotAllowed(*routes)
                return routes.get(method), {name: unquote(value) for name, value in match.groupdict().items()}
        raise FencepostError(ErrorCode.NOT_FOUND)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(path)))
