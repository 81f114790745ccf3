"""Which site a caller chats on, and what holds there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fencepost.identity.domain.scope import Caller, Visitor
from fencepost.identity.domain.sites import Organisation, Origin, Site
from fencepost.identity.ports import Directory
from fencepost.kernel.errors import ErrorCode, FencepostError


@dataclass(frozen=True, slots=True)
class SiteService:
    """Finds sites, and fills in what they leave to the deployment.

    Attributes:
        defaults: what holds where a site sets nothing, and on no site at all.
    """

    directory: Directory
    defaults: Site

    def site_for(self, caller: Caller, key: str | None = None) -> Site:
        """Return the site of a turn: a visitor's own; for a member the named one, or the organisation's default.

        An organisation without a default site has the deployment's settings, under a site whose id is empty.

        Raises:
            FencepostError: `site_unknown`; the site is absent, closed, or another organisation's. A default site that
                is closed is no leave to go on without its caps.
        """
        if isinstance(caller, Visitor):
            return self._own(self.directory.site(caller.org, caller.site), caller.org, key)
        if key is not None:
            return self._own(self.directory.site_by_key(key), caller.org, key)
        return self.serving(caller.org, self.organisation(caller.org).default_site)

    def usual(self, caller: Caller) -> Site:
        """Return the site that a caller is on without naming one, a closed one too: to see and to remove."""
        site_id = caller.site if isinstance(caller, Visitor) else self.organisation(caller.org).default_site
        return self.of_conversation(caller.org, site_id)

    def serving(self, org: str, site_id: str) -> Site:
        """Return a site by its id, to answer there; the deployment's settings where the id is empty.

        Raises:
            FencepostError: `site_unknown`; the site is absent or closed.
        """
        return self._own(self.directory.site(org, site_id), org, None) if site_id else replace(self.defaults, org=org)

    def origins_for(self, caller: Caller) -> frozenset[Origin]:
        """Return the pages that a caller may come from: those of a visitor's site, and for a member of all their sites.

        Which of these a member's request is about stands in its body, or in the conversation that it names.
        """
        if isinstance(caller, Visitor):
            # Whether a closed site's pages may still ask for something is for the route to say.
            return frozenset(self.usual(caller).origins)
        return self.directory.origins(caller.org)

    def of_conversation(self, org: str, site_id: str) -> Site:
        """Return the site that a conversation began on, for work in the background; the defaults where it is gone."""
        site = self.directory.site(org, site_id) if site_id else None
        return self._filled(site) if site else replace(self.defaults, org=org)

    def knows(self, org: str, site_id: str) -> bool:
        """Tell whether an organisation has a site, be it closed. Outside all sites is a place as well."""
        return not site_id or self.directory.site(org, site_id) is not None

    def public(self, key: str) -> Site:
        """Return the site with a public key, for somebody who has no token yet.

        Raises:
            FencepostError: `site_unknown`.
        """
        site = self.directory.site_by_key(key)
        if site is None or not site.active:
            raise FencepostError(ErrorCode.SITE_UNKNOWN)
        return self._filled(site)

    def renewing(self, visitor: Visitor, key: str) -> Site:
        """Return the site with a public key, for a visitor of it a closed one too: they may have yet to erase.

        Raises:
            FencepostError: `site_unknown`.
        """
        site = self.directory.site(visitor.org, visitor.site)
        return self._filled(site) if site and site.key == key else self.public(key)

    def organisation(self, org: str) -> Organisation:
        """Return an organisation's settings; the usual ones where it has none."""
        return self.directory.organisation(org) or Organisation(id=org)

    def _own(self, site: Site | None, org: str, key: str | None) -> Site:
        if site is None or not site.active or site.org != org or key not in (None, site.key):
            raise FencepostError(ErrorCode.SITE_UNKNOWN)
        return self._filled(site)

    def _filled(self, site: Site) -> Site:
        return replace(
            site,
            model=site.model or self.defaults.model,
            documents_url=site.documents_url or self.defaults.documents_url,
            budgets=site.budgets_over(self.defaults.budgets),
        )
