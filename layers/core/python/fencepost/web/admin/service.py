"""What an organisation's admin sets: the organisation, its sites and its members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fencepost.identity.domain.scope import Denied, Membership, OrgRole, Scope
from fencepost.identity.domain.sites import Fact, LayerBudgets, Organisation, Site
from fencepost.identity.ports import DirectoryAdmin
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock
from fencepost.memory.domain.facts import pinned_by_site


@dataclass(frozen=True, slots=True)
class Administration:
    """Reads and changes the directory. Every method asks for a scope of the action `administer`.

    Attributes:
        budgets: the deployment's, which a site has where it sets none.
    """

    directory: DirectoryAdmin
    budgets: LayerBudgets
    clock: Clock

    def organisation(self, scope: Scope) -> Organisation:
        """Return the organisation; the usual settings where nothing was set."""
        return self.directory.organisation(scope) or Organisation(id=scope.org)

    def put_organisation(
        self, scope: Scope, organisation: Organisation, *, replaces: int | None = None
    ) -> Organisation | None:
        """Store the organisation; None where its default site is none of its own.

        Raises:
            FencepostError: `settings_changed`; it has not the version `replaces`, where one is named.
        """
        default = organisation.default_site
        if default and self.site(scope, default) is None:
            return None
        return self.directory.put_organisation(scope, organisation, replaces=replaces)

    def ensure_organisation(self, scope: Scope, default_site: str = "") -> None:
        """Make the organisation where there is none, and give it a default site where it has none."""
        known = self.directory.organisation(scope)
        if known is None or (default_site and not known.default_site):
            organisation = known or Organisation(id=scope.org, name=scope.org)
            self.directory.put_organisation(scope, replace(organisation, default_site=default_site))

    def site(self, scope: Scope, site_id: str) -> Site | None:
        """Return a site, a closed one too."""
        return self.directory.site(scope, site_id)

    def sites(self, scope: Scope) -> tuple[Site, ...]:
        """Return the sites, by their ids."""
        return self.directory.sites(scope)

    def put_site(
        self, scope: Scope, site: Site, facts: Sequence[str] | None = None, *, replaces: int | None = None
    ) -> Site:
        """Store a site, under the key that it has where none is named. The first one becomes the default.

        Args:
            scope: of an admin.
            site: as it is to be.
            facts: all that it is to pin; None leaves those that `site` has.
            replaces: the version that it must have so far, 0 where there must be none; None replaces whatever there is.

        Raises:
            FencepostError: `settings_changed`; `site_key_taken`; `facts_too_large`.
        """
        known = self.directory.site(scope, site.id)
        key = site.key or (known.key if known else f"{scope.org}-{site.id}")
        own = site.own_facts if facts is None else self._pinned(site, known, facts)
        stored = self.directory.put_site(scope, replace(site, key=key, own_facts=own), replaces=replaces)
        self.ensure_organisation(scope, stored.id)
        return stored

    def members(self, scope: Scope) -> tuple[Membership, ...]:
        """Return the memberships, ended ones too, by their users."""
        return self.directory.memberships(scope)

    def put_member(self, scope: Scope, user: str, role: OrgRole | None) -> Membership:
        """Give somebody a role; None ends the membership, from the next request on and in turns under way.

        The operator may do so whoever is left. Whatever an admin writes is written while an admin stays: they
        themselves, or another one where they give their own role away. So no two of them leave none.

        Raises:
            FencepostError: `last_admin`; an organisation's only admin gives themselves another role.
            Denied: whoever asks is no admin any more.
        """
        membership = Membership(scope.org, user, role or OrgRole.MEMBER, active=role is not None, version=0)
        kind, _, actor = scope.actor.partition(":")
        if kind != "member":
            return self.directory.put_membership(scope, membership)
        leaves = actor == user and role is not OrgRole.ADMIN
        for admin in self._other_admins(scope, user) if leaves else [actor]:
            if stored := self.directory.put_membership_under(scope, membership, admin):
                return stored
        raise FencepostError(ErrorCode.LAST_ADMIN) if leaves else Denied("not_an_admin")

    def _other_admins(self, scope: Scope, user: str) -> list[str]:
        return [row.user for row in self.members(scope) if row.administers and row.user != user]

    def _pinned(self, site: Site, known: Site | None, facts: Sequence[str]) -> tuple[Fact, ...]:
        budget = site.budgets_over(self.budgets).facts_tokens
        return pinned_by_site(known or site, facts, self.clock(), budget)
