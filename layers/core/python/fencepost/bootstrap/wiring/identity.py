"""Wiring of the directory and of sites' settings."""

from __future__ import annotations

from fencepost.identity.domain.sites import LayerBudgets, Site
from fencepost.identity.dynamodb.directory import DynamoDbDirectory
from fencepost.identity.ports import Directory
from fencepost.identity.service import SiteService
from fencepost.settings import Settings


def directory(settings: Settings) -> Directory:
    """Return the directory. Build one per process: it caches organisations, sites and memberships."""
    return DynamoDbDirectory(settings.directory_table)


def site_service(settings: Settings, known: Directory) -> SiteService:
    """Return the service that finds sites. The deployment's settings apply where a site sets nothing."""
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
    """Return the deployment's budgets of prompt layers, in counted tokens."""
    return LayerBudgets(
        facts_tokens=settings.facts_tokens,
        summary_tokens=settings.summary_tokens,
        history_tokens=settings.history_tokens,
        documents_tokens=settings.documents_tokens,
        max_output_tokens=settings.max_output_tokens,
        messages=settings.conversation_messages,
        memory_tokens=settings.memory_tokens,
    )
