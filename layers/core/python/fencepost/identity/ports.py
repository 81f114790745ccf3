"""Ports of the directory. Its reads need no `Scope`, since scopes are created from them."""

from __future__ import annotations

from typing import Protocol

from fencepost.identity.domain.scope import Membership, Scope
from fencepost.identity.domain.sites import Organisation, Origin, Site


class Directory(Protocol):
    """Reads organisations, sites and memberships.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def site_by_key(self, key: str) -> Site | None:
        """Return the active site with a public key, possibly seconds old."""
        ...

    def site(self, org: str, site_id: str) -> Site | None:
        """Return a site by its id, open or closed, possibly seconds old."""
        ...

    def organisation(self, org: str) -> Organisation | None:
        """Return an organisation, possibly seconds old."""
        ...

    def origins(self, org: str) -> frozenset[Origin]:
        """Return the origins of all active sites of an organisation, possibly seconds old."""
        ...

    def membership(self, org: str, user: str) -> Membership | None:
        """Return a membership as it is stored now; never cached."""
        ...


class DirectoryAdmin(Protocol):
    """Changes the directory. Every method requires a scope of the action `administer`."""

    def organisation(self, scope: Scope) -> Organisation | None:
        """Return the organisation as it is stored now."""
        ...

    def put_organisation(
        self, scope: Scope, organisation: Organisation, *, replaces: int | None = None
    ) -> Organisation:
        """Store an organisation and return it with its new version.

        Args:
            scope: of the organisation.
            organisation: its new settings; its version is ignored.
            replaces: the version that must be stored now, 0 for an organisation that must not exist yet; None replaces
                any version.

        Raises:
            FencepostError: `settings_changed`; another version is stored.
        """
        ...

    def site(self, scope: Scope, site_id: str) -> Site | None:
        """Return a site as it is stored now, open or closed."""
        ...

    def put_site(self, scope: Scope, site: Site, *, replaces: int | None = None) -> Site:
        """Store a site and return it with its new version. See `put_organisation` for `replaces`.

        Raises:
            FencepostError: `settings_changed`; `site_key_taken`, another site has this public key.
        """
        ...

    def sites(self, scope: Scope) -> tuple[Site, ...]:
        """Return all sites of the organisation, ordered by id."""
        ...

    def put_membership(self, scope: Scope, membership: Membership) -> Membership:
        """Store a membership and return it with its new version."""
        ...

    def put_membership_under(self, scope: Scope, membership: Membership, admin: str) -> Membership | None:
        """Store a membership if the user `admin` is an active admin at that moment; otherwise return None."""
        ...

    def memberships(self, scope: Scope) -> tuple[Membership, ...]:
        """Return all memberships of the organisation, ordered by user."""
        ...
