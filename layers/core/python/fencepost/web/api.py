"""The `/v1` API: the checks that all its routes share, in order. The first that fails is the answer."""

from __future__ import annotations

import re
from collections.abc import Callable
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

_ID = re.compile(r"[!-~]{1,255}")
"""Any id. Subjects of OpenID tokens have up to 255 visible ASCII characters; our own ids are shorter."""


@dataclass(frozen=True, slots=True)
class Api:
    """The `/v1` route of an `Endpoint`: matches the request, limits and authenticates it, and calls the handler.

    Attributes:
        guard: counts requests that may call the model.
        other_guard: counts all other requests.
        edge_secret: returns the secret by which CloudFront proves its identity; None where there is none.
        decide: authorises an action, and reports the decision.
        refused: reports a caller who was refused before any action was decided on.
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
        """Answer a request.

        Raises:
            FencepostError: the first check that fails.
        """
        route, params = self.router.find(request.method, request.path)
        if route is None:
            return Response("preflight", HTTPStatus.NO_CONTENT)
        trace.route = f"{route.method} {route.path}"
        # Not counted: any foreign page can send these, and must not use up a visitor's quota.
        if not self.origins.allows(request):
            raise FencepostError(ErrorCode.ORIGIN_NOT_ALLOWED)
        if request.text and not is_json(request):
            raise FencepostError(ErrorCode.UNSUPPORTED_MEDIA_TYPE)
        caller = self._admit(request, trace, route)
        # Text that cannot be an id is answered like an id that does not exist.
        if not all(map(_ID.fullmatch, params.values())):
            raise FencepostError(ErrorCode.NOT_FOUND)
        return route.handle(Call(request, trace, params, caller, self.decide))

    def _admit(self, request: Request, trace: Trace, route: Route) -> Caller | None:
        """Count the request, even an invalid one, and authenticate it: concurrently, so both take one store latency."""
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
