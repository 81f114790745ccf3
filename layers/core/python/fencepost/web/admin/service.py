"""Use cases of an organisation's admins: the settings of the organisation, its sites and its members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fencepost.identity.domain.scope import Denied, Membership, OrgRole, Scope
from fencepost.identity.domain.sites import LayerBudgets, Organisation, Site
from fencepost.identity.ports import DirectoryAdmin
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock
from fencepost.memory.domain.facts import pinned_by_site


@dataclass(frozen=True, slots=True)
class Administration:
    """Reads and changes the directory. Every method takes a scope of the action `administer`.

    Attributes:
        budgets: the deployment's prompt budgets, for sites that set none.
    """

    directory: DirectoryAdmin
    budgets: LayerBudgets
    clock: Clock

    def organisation(self, scope: Scope) -> Organisation:
        """Return the organisation; one with default settings where none is stored."""
        return self.directory.organisation(scope) or Organisation(id=scope.org)

    def put_organisation(
        self, scope: Scope, organisation: Organisation, *, replaces: int | None = None
    ) -> Organisation | None:
        """Store the organisation.

        Args:
            scope: of an admin.
            organisation: the new settings.
            replaces: the version that must be stored; None replaces any version.

        Returns:
            The stored organisation; None where its default site is not a site of the organisation.

        Raises:
            FencepostError: `settings_changed`; another version is stored.
        """
        default = organisation.default_site
        if default and self.site(scope, default) is None:
            return None
        return self.directory.put_organisation(scope, organisation, replaces=replaces)

    def ensure_organisation(self, scope: Scope, default_site: str = "") -> None:
        """Create the organisation if it does not exist, and set its default site if it has none."""
        known = self.directory.organisation(scope)
        if known is None or (default_site and not known.default_site):
            organisation = known or Organisation(id=scope.org, name=scope.org)
            self.directory.put_organisation(scope, replace(organisation, default_site=default_site))

    def site(self, scope: Scope, site_id: str) -> Site | None:
        """Return a site, also a closed one; None if it does not exist."""
        return self.directory.site(scope, site_id)

    def sites(self, scope: Scope) -> tuple[Site, ...]:
        """Return the sites in the order of their ids."""
        return self.directory.sites(scope)

    def put_site(
        self, scope: Scope, site: Site, facts: Sequence[str] | None = None, *, replaces: int | None = None
    ) -> Site:
        """Store a site. Without a key it keeps the stored one, or gets a new one. The first site becomes the default.

        Args:
            scope: of an admin.
            site: the new settings.
            facts: texts of all facts to pin; None keeps the facts of `site`.
            replaces: the version that must be stored, 0 for a site that must not exist yet; None replaces any version.

        Raises:
            FencepostError: `settings_changed`; `site_key_taken`; `facts_too_large`.
        """
        known = self.directory.site(scope, site.id)
        key = site.key or (known.key if known else f"{scope.org}-{site.id}")
        own = site.own_facts
        if facts is not None:
            own = pinned_by_site(known or site, facts, self.clock(), site.budgets_over(self.budgets).facts_tokens)
        stored = self.directory.put_site(scope, replace(site, key=key, own_facts=own), replaces=replaces)
        self.ensure_organisation(scope, stored.id)
        return stored

    def members(self, scope: Scope) -> tuple[Membership, ...]:
        """Return the memberships, also ended ones, in the order of their users."""
        return self.directory.memberships(scope)

    def put_member(self, scope: Scope, user: str, role: OrgRole | None) -> Membership:
        """Set a user's role; None ends the membership, effective from the next request and in turns in progress.

        The operator may remove the last admin. A write by an admin is conditional on an admin who stays one: the
        writer, or another admin where the writer gives up the role. So two concurrent writes cannot leave the
        organisation without an admin.

        Raises:
            FencepostError: `last_admin`; an organisation's only admin gives up the role.
            Denied: the writer is no longer an admin.
        """
        membership = Membership(scope.org, user, role or OrgRole.MEMBER, active=role is not None, version=0)
        kind, _, actor = scope.actor.partition(":")
        if kind != "member":
            return self.directory.put_membership(scope, membership)
        leaves = actor == user and role is not OrgRole.ADMIN
        witnesses = [actor]
        if leaves:
            witnesses = [row.user for row in self.members(scope) if row.administers and row.user != user]
        for admin in witnesses:
            if stored := self.directory.put_membership_under(scope, membership, admin):
                return stored
        raise FencepostError(ErrorCode.LAST_ADMIN) if leaves else Denied("not_an_admin")
