"""What tells who somebody is. These are asked before there is a `Scope`: they are what one is made from."""

from __future__ import annotations

from typing import Protocol

from fencepost.identity.domain.scope import Membership, Scope
from fencepost.identity.domain.sites import Organisation, Origin, Site


class Directory(Protocol):
    """Organisations, sites and memberships.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def site_by_key(self, key: str) -> Site | None:
        """Return the active site with this public key; a copy may be seconds old."""
        ...

    def site(self, org: str, site_id: str) -> Site | None:
        """Return a site by its id; a copy may be seconds old."""
        ...

    def organisation(self, org: str) -> Organisation | None:
        """Return an organisation; a copy may be seconds old."""
        ...

    def origins(self, org: str) -> frozenset[Origin]:
        """Return the origins that any active site of an organisation lists; a copy may be seconds old."""
        ...

    def membership(self, org: str, user: str) -> Membership | None:
        """Return a membership as it is now: never a copy."""
        ...


class DirectoryAdmin(Protocol):
    """Changes the directory. Every method asks for a scope of the action `administer`."""

    def organisation(self, scope: Scope) -> Organisation | None:
        """Return the organisation as it is now."""
        ...

    def put_organisation(
        self, scope: Scope, organisation: Organisation, *, replaces: int | None = None
    ) -> Organisation:
        """Store an organisation and return it with its new version.

        Args:
            scope: of the organisation.
            organisation: as it is to be; its own version is not looked at.
            replaces: the version that it must have so far, 0 where there must be none; None replaces whatever there is.

        Raises:
            FencepostError: `settings_changed`; it has another version.
        """
        ...

    def site(self, scope: Scope, site_id: str) -> Site | None:
        """Return a site as it is now, a closed one too."""
        ...

    def put_site(self, scope: Scope, site: Site, *, replaces: int | None = None) -> Site:
        """Store a site and return it with its new version. `replaces`: as of `put_organisation`.

        Raises:
            FencepostError: `settings_changed`; `site_key_taken`, another site has this key.
        """
        ...

    def sites(self, scope: Scope) -> tuple[Site, ...]:
        """Return the organisation's sites, by their ids."""
        ...

    def put_membership(self, scope: Scope, membership: Membership) -> Membership:
        """Store a membership and return it with its new version."""
        ...

    def put_membership_under(self, scope: Scope, membership: Membership, admin: str) -> Membership | None:
        """Store a membership on condition that `admin`, a user, is an active admin as it is written; None where not."""
        ...

    def memberships(self, scope: Scope) -> tuple[Membership, ...]:
        """Return the organisation's memberships, by their users."""
        ...
