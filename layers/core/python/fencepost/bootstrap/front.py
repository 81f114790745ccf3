"""What stands before every route of `/v1`, in whichever function it is served: limits, origins and callers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fencepost.adapters.dynamodb.limiter import DynamoDbAddressLimiter
from fencepost.bootstrap import identity
from fencepost.bootstrap.clock import utc_now
from fencepost.edge.api import Api
from fencepost.edge.callers import Callers
from fencepost.edge.cors import SiteOrigins
from fencepost.edge.router import Route, Router
from fencepost.ports import Directory, Events, Keys, VisitorTokens
from fencepost.services.authorization import Authorizer
from fencepost.services.guard import AddressGuard
from fencepost.services.sites import SiteService
from fencepost.settings import Settings


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
