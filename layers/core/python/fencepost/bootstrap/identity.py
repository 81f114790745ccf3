"""Who asks: what the functions with an API share."""

from __future__ import annotations

from datetime import timedelta

from fencepost.access.callers import Callers
from fencepost.access.ports import VisitorTokens
from fencepost.access.tokens.oidc import MAX_KEY_SET_BYTES, OidcTokens, ProviderKeys, WebKeySet
from fencepost.access.tokens.visitor_tokens import SignedVisitorTokens
from fencepost.documents.fetching.web import KEY_SET, WebDocumentFetcher
from fencepost.identity.domain.sites import LayerBudgets, Site
from fencepost.identity.dynamodb.directory import DynamoDbDirectory
from fencepost.identity.dynamodb.directory_admin import DynamoDbDirectoryAdmin
from fencepost.identity.ports import Directory
from fencepost.identity.service import SiteService
from fencepost.kernel.clock import utc_now
from fencepost.kernel.ports import Clock, Keys
from fencepost.observability.ports import Events
from fencepost.settings import Settings
from fencepost.web.admin.service import Administration


def directory(settings: Settings) -> DynamoDbDirectory:
    """Return the directory. One serves a whole process: it keeps copies."""
    return DynamoDbDirectory(settings.directory_table)


def administration(settings: Settings) -> Administration:
    """Return what changes the directory."""
    return Administration(DynamoDbDirectoryAdmin(settings.directory_table), layer_budgets(settings), utc_now)


def site_service(settings: Settings, known: Directory) -> SiteService:
    """Return what finds sites, with the deployment's settings where they set nothing."""
    defaults = Site(
        org="",
        id="",
        key="",
        model=settings.model,
        budgets=layer_budgets(settings),
        documents_url=settings.docs_site_url,
    )
    return SiteService(known, defaults)


def layer_budgets(settings: Settings) -> LayerBudgets:
    """Return the deployment's budgets."""
    return LayerBudgets(
        facts_tokens=settings.facts_tokens,
        summary_tokens=settings.summary_tokens,
        history_tokens=settings.history_tokens,
        documents_tokens=settings.documents_tokens,
        max_output_tokens=settings.max_output_tokens,
        messages=settings.conversation_messages,
        memory_tokens=settings.memory_tokens,
    )


def visitor_tokens(settings: Settings, keys: Keys) -> SignedVisitorTokens:
    """Return what signs and reads visitors' tokens."""
    return SignedVisitorTokens(keys, timedelta(minutes=settings.visitor_token_minutes))


def callers(settings: Settings, visitors: VisitorTokens, known: Directory, clock: Clock, log: Events) -> Callers:
    """Return what tells who makes a request."""
    web = WebDocumentFetcher(allow_loopback=settings.docs_allow_loopback, limit=MAX_KEY_SET_BYTES, wanted=KEY_SET)
    provider = ProviderKeys(WebKeySet(settings.oidc_jwks_url, web), log)
    members = OidcTokens(settings.oidc_issuer, settings.oidc_audience, provider, settings.oidc_org_claim)
    return Callers(visitors, members, known, clock)
