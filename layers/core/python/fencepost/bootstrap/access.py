"""Wiring of callers: visitors' and members' tokens."""

from __future__ import annotations

from datetime import timedelta

from fencepost.access.callers import Callers
from fencepost.access.ports import VisitorTokens
from fencepost.access.tokens.oidc import MAX_KEY_SET_BYTES, OidcTokens, ProviderKeys, WebKeySet
from fencepost.access.tokens.visitor_tokens import SignedVisitorTokens
from fencepost.documents.fetching.web import KEY_SET, WebDocumentFetcher
from fencepost.identity.ports import Directory
from fencepost.kernel.clock import utc_now
from fencepost.kernel.ports import Keys
from fencepost.observability.ports import Events
from fencepost.settings import Settings


def visitor_tokens(settings: Settings, keys: Keys) -> VisitorTokens:
    """Return the issuer and reader of visitors' tokens."""
    return SignedVisitorTokens(keys, timedelta(minutes=settings.visitor_token_minutes))


def callers(settings: Settings, visitors: VisitorTokens, known: Directory, log: Events) -> Callers:
    """Return the service that identifies the caller of a request."""
    web = WebDocumentFetcher(allow_loopback=settings.docs_allow_loopback, limit=MAX_KEY_SET_BYTES, wanted=KEY_SET)
    provider = ProviderKeys(WebKeySet(settings.oidc_jwks_url, web), log)
    members = OidcTokens(settings.oidc_issuer, settings.oidc_audience, provider, settings.oidc_org_claim)
    return Callers(visitors, members, known, utc_now)
