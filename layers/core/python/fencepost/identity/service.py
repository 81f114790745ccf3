"""Find the site that a caller chats on, with its settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fencepost.identity.domain.scope import Caller, Visitor
from fencepost.identity.domain.sites import Organisation, Origin, Site
from fencepost.identity.ports import Directory
from fencepost.kernel.errors import ErrorCode, FencepostError


@dataclass(frozen=True, slots=True)
class SiteService:
    """Finds sites, and fills in settings that they leave to the deployment.

    Attributes:
        defaults: settings of the deployment, for what a site does not set and for callers without a site.
    """

    directory: Directory
    defaults: Site

    def site_for(self, caller: Caller, key: str | None = None) -> Site:
        """Return the site of a turn: a visitor's own, or for members that of `key` or the organisation's default.

        Without a default site it is the deployment's settings, as a site with an empty id.

        Raises:
            FencepostError: `site_unknown`; the site does not exist, is closed, or is another organisation's. This
                includes a closed default site, whose caps must not be bypassed.
        """
        if isinstance(caller, Visitor):
            return self._require(self.directory.site(caller.org, caller.site), caller.org, key)
        if key is not None:
            return self._require(self.directory.site_by_key(key), caller.org, key)
        return self.open_site(caller.org, self.organisation(caller.org).default_site)

    def default_site_of(self, caller: Caller) -> Site:
        """Return the site of a caller who names none, open or closed, for reading and removing data."""
        site_id = caller.site if isinstance(caller, Visitor) else self.organisation(caller.org).default_site
        return self.of_conversation(caller.org, site_id)

    def open_site(self, org: str, site_id: str) -> Site:
        """Return an open site by its id, or the deployment's settings for an empty id.

        Raises:
            FencepostError: `site_unknown`; the site does not exist or is closed.
        """
        return (
            self._require(self.directory.site(org, site_id), org, None) if site_id else replace(self.defaults, org=org)
        )

    def origins_for(self, caller: Caller) -> frozenset[Origin]:
        """Return the origins that a caller's requests may have.

        They are those of a visitor's site, or of all sites of a member's organisation: a member's site is known only
        from the body of the request, or from the conversation that it names.
        """
        if isinstance(caller, Visitor):
            # Routes decide whether a closed site still serves a request.
            return frozenset(self.default_site_of(caller).origins)
        return self.directory.origins(caller.org)

    def of_conversation(self, org: str, site_id: str) -> Site:
        """Return the site of a conversation, open or closed; the deployment's settings if it does not exist."""
        site = self.directory.site(org, site_id) if site_id else None
        return self._with_defaults(site) if site else replace(self.defaults, org=org)

    def has_site(self, org: str, site_id: str) -> bool:
        """Tell whether an organisation has a site, open or closed. An empty id, for no site, is known too."""
        return not site_id or self.directory.site(org, site_id) is not None

    def public(self, key: str) -> Site:
        """Return the open site with a public key, for a visitor without a token.

        Raises:
            FencepostError: `site_unknown`.
        """
        site = self.directory.site_by_key(key)
        if site is None or not site.active:
            raise FencepostError(ErrorCode.SITE_UNKNOWN)
        return self._with_defaults(site)

    def site_for_renewal(self, visitor: Visitor, key: str) -> Site:
        """Return the site with a public key. Its own visitors get it closed, too, since they may still erase data.

        Raises:
            FencepostError: `site_unknown`.
        """
        site = self.directory.site(visitor.org, visitor.site)
        return self._with_defaults(site) if site and site.key == key else self.public(key)

    def organisation(self, org: str) -> Organisation:
        """Return an organisation's settings, or defaults if none are stored."""
        return self.directory.organisation(org) or Organisation(id=org)

    def _require(self, site: Site | None, org: str, key: str | None) -> Site:
        if site is None or not site.active or site.org != org or key not in (None, site.key):
            raise FencepostError(ErrorCode.SITE_UNKNOWN)
        return self._with_defaults(site)

    def _with_defaults(self, site: Site) -> Site:
        return replace(
            site,
            model=site.model or self.defaults.model,
            documents_url=site.documents_url or self.defaults.documents_url,
            budgets=site.budgets_over(self.defaults.budgets),
        )
