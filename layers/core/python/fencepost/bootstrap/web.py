"""Wiring of everything that a request passes before its `/v1` route: origins, rate limits and callers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fencepost.access.callers import Callers
from fencepost.access.ports import VisitorTokens
from fencepost.access.service import Authorizer
from fencepost.bootstrap.access import callers, visitor_tokens
from fencepost.bootstrap.identity import directory, site_service
from fencepost.http.cors import SiteOrigins
from fencepost.http.routing import Route, Router
from fencepost.identity.ports import Directory
from fencepost.identity.service import SiteService
from fencepost.kernel.clock import utc_now
from fencepost.kernel.ports import Keys
from fencepost.limits.dynamodb.limiter import DynamoDbAddressLimiter
from fencepost.limits.service.address_guard import AddressGuard
from fencepost.observability.ports import Events
from fencepost.settings import Settings
from fencepost.web.api import Api


@dataclass(frozen=True, slots=True)
class Ingress:
    """The checks before every `/v1` route, and the services that routes share with these checks. One per process.

    Attributes:
        guard: rate limits of requests that may call the model.
        other_guard: rate limits of all other requests.
        decide: authorises callers and reports refusals.
    """

    keys: Keys
    directory: Directory
    visitor_tokens: VisitorTokens
    callers: Callers
    sites: SiteService
    origins: SiteOrigins
    guard: AddressGuard
    other_guard: AddressGuard
    decide: Authorizer

    def api(self, routes: Iterable[Route]) -> Api:
        """Return the handler that applies the checks and then serves the given routes."""
        edge_secret, decide = self.keys.edge_secret, self.decide
        router, guards = Router(routes), (self.guard, self.other_guard)
        return Api(router, self.origins, *guards, self.callers, self.sites, edge_secret, decide, decide.refused)


def ingress(settings: Settings, keys: Keys, log: Events) -> Ingress:
    """Build the checks. Opens no connection."""
    known, visitors = directory(settings), visitor_tokens(settings, keys)
    limiter = DynamoDbAddressLimiter(settings.limits_table, keys)
    return Ingress(
        keys=keys,
        directory=known,
        visitor_tokens=visitors,
        callers=callers(settings, visitors, known, log),
        sites=site_service(settings, known),
        origins=SiteOrigins(frozenset(settings.allowed_origins)),
        guard=AddressGuard(limiter, settings.rate_limits, log, utc_now),
        other_guard=AddressGuard(limiter, settings.other_rate_limits, log, utc_now),
        decide=Authorizer(keys, log),
    )
