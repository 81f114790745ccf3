"""What stands before every route of `/v1`, in whichever function it is served: limits, origins and callers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fencepost.access.callers import Callers
from fencepost.access.ports import VisitorTokens
from fencepost.access.service import Authorizer
from fencepost.bootstrap import identity
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
class Front:
    """One process's front: what its routes are built from, and what lets requests through to them."""

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
        """Put routes behind it."""
        edge_secret, decide = self.keys.edge_secret, self.decide
        router, guards = Router(routes), (self.guard, self.other_guard)
        return Api(router, self.origins, *guards, self.callers, self.sites, edge_secret, decide, decide.refused)


def front(settings: Settings, keys: Keys, log: Events) -> Front:
    """Build it. Nothing is connected to."""
    directory = identity.directory(settings)
    visitors = identity.visitor_tokens(settings, keys)
    limiter = DynamoDbAddressLimiter(settings.limits_table, keys)
    return Front(
        keys=keys,
        directory=directory,
        visitor_tokens=visitors,
        callers=identity.callers(settings, visitors, directory, utc_now, log),
        sites=identity.site_service(settings, directory),
        origins=SiteOrigins(frozenset(settings.allowed_origins)),
        guard=AddressGuard(limiter, settings.rate_limits, log, utc_now),
        other_guard=AddressGuard(limiter, settings.other_rate_limits, log, utc_now),
        decide=Authorizer(keys, log),
    )
