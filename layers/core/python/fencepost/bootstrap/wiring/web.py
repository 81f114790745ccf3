"""Wiring of what stands before every route: callers and their tokens, limits, origins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from fencepost.access.callers import Callers
from fencepost.access.ports import VisitorTokens
from fencepost.access.service import Authorizer
from fencepost.access.tokens.oidc import MAX_KEY_SET_BYTES, OidcTokens, ProviderKeys, WebKeySet
from fencepost.access.tokens.visitor_tokens import SignedVisitorTokens
from fencepost.bootstrap.wiring.identity import directory, site_service
from fencepost.documents.fetching.web import KEY_SET, WebDocumentFetcher
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


def visitor_tokens(settings: Settings, keys: Keys) -> VisitorTokens:
    """Return the issuer and reader of visitors' tokens."""
    return SignedVisitorTokens(keys, timedelta(minutes=settings.visitor_token_minutes))


def callers(settings: Settings, visitors: VisitorTokens, known: Directory, log: Events) -> Callers:
    """Return the service that identifies the caller of a request."""
    web = WebDocumentFetcher(allow_loopback=settings.docs_allow_loopback, limit=MAX_KEY_SET_BYTES, wanted=KEY_SET)
    provider = ProviderKeys(WebKeySet(settings.oidc_jwks_url, web), log)
    members = OidcTokens(settings.oidc_issuer, settings.oidc_audience, provider, settings.oidc_org_claim)
    return Callers(visitors, members, known, utc_now)
