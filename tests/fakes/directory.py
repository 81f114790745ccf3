"""The directory in plain memory, with the same rules as the adapter."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock

from fencepost.identity.domain.scope import Action, Denied, Membership, OrgRole, Scope
from fencepost.identity.domain.sites import Organisation, Origin, Site, parse_origin
from fencepost.kernel.errors import ErrorCode, FencepostError
from tests.fakes.answers import Fault


class FakeDirectory:
    """Implements `Directory`. Nothing is ever a copy.

    Attributes:
        faults: what goes wrong with the next calls, in order.
        reads: what was asked for, by the method's name.
    """

    def __init__(self) -> None:
        self.faults: deque[Fault | None] = deque()
        self.reads: list[str] = []
        self.organisations: dict[str, Organisation] = {}
        self.sites: dict[tuple[str, str], Site] = {}
        self.memberships: dict[tuple[str, str], Membership] = {}
        self.lock = Lock()

    def add_site(
        self, org: str = "acme", site: str = "docs", *, origins: tuple[str, ...] = (), **fields: object
    ) -> Site:
        """Store a site, by default under the key `<org>-<site>`, and its organisation with it as the default."""
        row = Site(org=org, id=site, key=f"{org}-{site}", origins=tuple(map(parse_origin, origins)), version=1)
        self.organisations.setdefault(org, Organisation(id=org, default_site=site, version=1))
        self.sites[org, site] = replace(row, **fields)  # type: ignore[arg-type]  # checked by the dataclass
        return self.sites[org, site]

    def add_organisation(self, organisation: Organisation) -> None:
        self.organisations[organisation.id] = organisation

    def grant(self, org: str, user: str, role: OrgRole = OrgRole.MEMBER) -> Membership:
        """Make somebody a member, under a new version."""
        return self.write(Membership(org, user, role, active=True, version=0))

    def revoke(self, org: str, user: str) -> Membership:
        """End a membership, under a new version."""
        return self.write(replace(self.memberships[org, user], active=False))

    @property
    def administered(self) -> FakeDirectoryAdmin:
        """The same rows as their admin sees and changes them."""
        return FakeDirectoryAdmin(self)

    def site_by_key(self, key: str) -> Site | None:
        with self.call("site_by_key"):
            return next((site for site in self.sites.values() if site.key == key and site.active), None)

    def site(self, org: str, site_id: str) -> Site | None:
        with self.call("site"):
            return self.sites.get((org, site_id))

    def organisation(self, org: str) -> Organisation | None:
        with self.call("organisation"):
            return self.organisations.get(org)

    def origins(self, org: str) -> frozenset[Origin]:
        with self.call("origins"):
            sites = [site for (own, _), site in self.sites.items() if own == org and site.active]
            return frozenset(origin for site in sites for origin in site.origins)

    def membership(self, org: str, user: str) -> Membership | None:
        with self.call("membership"):
            return self.memberships.get((org, user))

    def write(self, membership: Membership) -> Membership:
        with self.lock:
            known = self.memberships.get((membership.org, membership.user))
            stored = replace(membership, version=known.version + 1 if known else 1)
            self.memberships[membership.org, membership.user] = stored
            return stored

    @contextmanager
    def call(self, name: str, scope: Scope | None = None) -> Iterator[None]:
        fault = self.faults.popleft() if self.faults else None
        if fault == "before":
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
        if scope is not None and scope.action is not Action.ADMINISTER:
            raise Denied("not_an_admin")
        self.reads.append(name)
        yield
        if fault == "after":
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)


class FakeDirectoryAdmin:
    """Implements `DirectoryAdmin` on the rows of a directory."""

    def __init__(self, directory: FakeDirectory) -> None:
        self._rows = directory

    def organisation(self, scope: Scope) -> Organisation | None:
        with self._rows.call("organisation", scope):
            return self._rows.organisations.get(scope.org)

    def put_organisation(
        self, scope: Scope, organisation: Organisation, *, replaces: int | None = None
    ) -> Organisation:
        with self._rows.call("put_organisation", scope):
            known = self._rows.organisations.get(scope.org)
            _require_version(known, replaces)
            stored = replace(organisation, id=scope.org, version=known.version + 1 if known else 1)
            self._rows.organisations[scope.org] = stored
            return stored

    def site(self, scope: Scope, site_id: str) -> Site | None:
        with self._rows.call("site", scope):
            return self._rows.sites.get((scope.org, site_id))

    def put_site(self, scope: Scope, site: Site, *, replaces: int | None = None) -> Site:
        with self._rows.call("put_site", scope), self._rows.lock:
            place, sites = (scope.org, site.id), self._rows.sites
            if any(other.key == site.key and at != place for at, other in sites.items()):
                raise FencepostError(ErrorCode.SITE_KEY_TAKEN)
            known = sites.get(place)
            _require_version(known, replaces)
            sites[place] = replace(site, org=scope.org, version=known.version + 1 if known else 1)
            return sites[place]

    def sites(self, scope: Scope) -> tuple[Site, ...]:
        with self._rows.call("sites", scope):
            return tuple(site for (org, _), site in sorted(self._rows.sites.items()) if org == scope.org)

    def put_membership(self, scope: Scope, membership: Membership) -> Membership:
        with self._rows.call("put_membership", scope):
            return self._rows.write(replace(membership, org=scope.org))

    def put_membership_under(self, scope: Scope, membership: Membership, admin: str) -> Membership | None:
        with self._rows.call("put_membership_under", scope):
            known = self._rows.memberships.get((scope.org, admin))
            return self._rows.write(replace(membership, org=scope.org)) if known and known.administers else None

    def memberships(self, scope: Scope) -> tuple[Membership, ...]:
        with self._rows.call("memberships", scope):
            return tuple(row for (org, _), row in sorted(self._rows.memberships.items()) if org == scope.org)


def _require_version(known: Organisation | Site | None, replaces: int | None) -> None:
    if replaces not in (None, known.version if known else 0):
        raise FencepostError(ErrorCode.SETTINGS_CHANGED)
