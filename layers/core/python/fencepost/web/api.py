"""The `/v1` API: the order of checks that all its routes share. The first that fails answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from fencepost.access.callers import Callers, Principal
from fencepost.http.cors import SiteOrigins
from fencepost.http.proxy import Request, Response, is_json
from fencepost.http.routing import Call, Route, Router
from fencepost.identity.domain.scope import Action, Caller, DenialReason, Denied, Resource, Scope, authorize
from fencepost.identity.service import SiteService
from fencepost.kernel.concurrency import run_concurrently
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.limits.domain.requests import client_address
from fencepost.limits.service.address_guard import AddressGuard
from fencepost.observability.service import Trace

_WORD = re.compile(r"[!-~]{1,255}")
"""What an id may be made of: subjects of OpenID tokens are visible ASCII of this length at most, ours are shorter."""


@dataclass(frozen=True, slots=True)
class Api:
    """A route of `fencepost.http.endpoint` that finds the route which answers, and lets in who may ask it.

    Attributes:
        edge_secret: reads what CloudFront sends to prove itself.
        decide: authorises an action, and reports the decision.
        guard: counts what may call the model.
        other_guard: counts everything else.
        refused: reports that a caller was turned away before there was an action to decide on.
    """

    router: Router
    origins: SiteOrigins
    guard: AddressGuard
    other_guard: AddressGuard
    callers: Callers
    sites: SiteService
    edge_secret: Callable[[], str | None]
    decide: Callable[[Caller, Action, Resource], Scope] = authorize
    refused: Callable[[DenialReason, Caller | None], None] = lambda *_: None

    def __call__(self, request: Request, trace: Trace) -> Response:
        """Answer a request, or raise what is wrong with it.

        Raises:
            FencepostError: the first check that fails.
        """
        route, params = self.router.find(request.method, request.path)
        if route is None:
            return Response("preflight", HTTPStatus.NO_CONTENT)
        trace.route = f"{route.method} {route.path}"
        self._require_welcome(request)
        caller = self._admit(request, trace, route)
        _require_words(params)
        return route.handle(Call(request, trace, params, caller, self.decide))

    def _require_welcome(self, request: Request) -> None:
        """Refuse, uncounted, what only a foreign page sends: it must not use up a visitor's quota."""
        if not self.origins.allows(request):
            raise FencepostError(ErrorCode.ORIGIN_NOT_ALLOWED)
        if request.text and not is_json(request):
            raise FencepostError(ErrorCode.UNSUPPORTED_MEDIA_TYPE)

    def _admit(self, request: Request, trace: Trace, route: Route) -> Caller | None:
        """Count the request, whatever else is wrong with it, and find out who asks: both in one step of the store."""
        if route.public:
            self._count(request, trace, route)
            return None
        _, caller = run_concurrently(
            lambda: self._count(request, trace, route), lambda: self._authenticate(request, trace, route)
        )
        if not self.origins.serves(request, lambda: self.sites.origins_for(caller)):
            raise FencepostError(ErrorCode.ORIGIN_NOT_ALLOWED)
        return caller

    def _authenticate(self, request: Request, trace: Trace, route: Route) -> Caller:
        principal: Principal | None = None
        with trace.stage("authenticate"):
            try:
                principal = self.callers.principal(request)
                return self.callers.caller(principal, leaving=route.leaving)
            except Denied as denial:
                self.refused(denial.reason, principal)
                raise

    def _count(self, request: Request, trace: Trace, route: Route) -> None:
        guard = self.guard if route.paid else self.other_guard
        with trace.stage("guard"):
            guard.admit(lambda: client_address(request.source_ip, request.headers, self.edge_secret))
        trace.counted = True


def _require_words(params: Mapping[str, str]) -> None:
    """Say of what cannot be an id what is said of one that is absent."""
    if not all(map(_WORD.fullmatch, params.values())):
        raise FencepostError(ErrorCode.NOT_FOUND)
