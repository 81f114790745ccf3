"""Writes to the directory in DynamoDB. Each raises the version of the row that it changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, override

from pynamodb.expressions.condition import Condition

from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Action, Denied, Membership, OrgRole, Scope
from fencepost.identity.domain.sites import Organisation, Site
from fencepost.identity.ports import DirectoryAdmin
from fencepost.identity.rows import DirectoryRow, MembershipRow, PublicKeyRow, SiteReference, VersionedRow
from fencepost.kernel.aws.expressions import all_of, any_of
from fencepost.kernel.aws.rows import Item, Key, from_item, set_item, to_item
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Refused, Table
from fencepost.kernel.aws.transactions import Write
from fencepost.kernel.errors import ErrorCode, FencepostError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_ATTEMPTS: Final = 8
"""How often a row is read and written again after another writer changed it in between."""


class DynamoDbDirectoryAdmin(DirectoryAdmin):
    """Implements `fencepost.identity.ports.DirectoryAdmin`.

    Args:
        table: name of the directory's table.
        client: makes or returns the client; called at the first use.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client) -> None:
        self._table = Table(table, client)

    @override
    def organisation(self, scope: Scope) -> Organisation | None:
        return self._read(scope, Organisation, keys.organisation_row(scope.org))

    @override
    def put_organisation(
        self, scope: Scope, organisation: Organisation, *, replaces: int | None = None
    ) -> Organisation:
        _require_admin(scope)
        named = replace(organisation, id=scope.org)
        self._register(scope.org)
        return from_item(Organisation, self._update(keys.organisation_row(scope.org), named, replaces))

    @override
    def site(self, scope: Scope, site_id: str) -> Site | None:
        return self._read(scope, Site, keys.site_row(scope.org, site_id))

    @override
    def put_membership(self, scope: Scope, membership: Membership) -> Membership:
        _require_admin(scope)
        named = replace(membership, org=scope.org)
        return from_item(Membership, self._update(keys.membership_row(scope.org, membership.user), named))

    @override
    def put_membership_under(self, scope: Scope, membership: Membership, admin: str) -> Membership | None:
        """Of two admins who end each other's role at once, the transaction of one fails on the other's."""
        key, admin_key = keys.membership_row(scope.org, membership.user), keys.membership_row(scope.org, admin)
        is_admin = all_of(MembershipRow.active == True, MembershipRow.role == OrgRole.ADMIN)  # noqa: E712 - an expression
        for _ in range(_ATTEMPTS):
            before = self._read(scope, Membership, key)
            if admin == membership.user and not (before and before.administers):
                return None
            stored = replace(membership, org=scope.org, version=before.version + 1 if before else 1)
            # A transaction takes one write for each row: an admin's own row is checked by its version instead.
            check = {} if admin == membership.user else {"admin": self._table.check_write(admin_key, is_admin)}
            writes = {"membership": self._replace(to_item(stored) | key, before), **check}
            cancelled = self._table.transact_with_retry(writes)
            if cancelled is None:
                return stored
            if "admin" in cancelled.met:
                return None
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)

    @override
    def put_site(self, scope: Scope, site: Site, *, replaces: int | None = None) -> Site:
        _require_admin(scope)
        self._register(scope.org)
        for _ in range(_ATTEMPTS):
            before = self.site(scope, site.id)
            version = before.version if before else 0
            if replaces not in (None, version):
                raise FencepostError(ErrorCode.SETTINGS_CHANGED)
            stored = replace(site, org=scope.org, version=version + 1)
            if self._replace_site(before, stored):
                return stored
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)

    @override
    def sites(self, scope: Scope) -> tuple[Site, ...]:
        return tuple(from_item(Site, row) for row in self._rows(scope, keys.SITES))

    @override
    def memberships(self, scope: Scope) -> tuple[Membership, ...]:
        return tuple(from_item(Membership, row) for row in self._rows(scope, keys.MEMBERS))

    def _register(self, org: str) -> None:
        """Store the registry's entry before any other row of an organisation, so that the registry lists them all."""
        self._table.put(keys.registry_row(org))

    def _update(self, key: Key, value: DataclassInstance, replaces: int | None = None) -> Item:
        """Write all fields of a row in one request; the store counts the version, so none is given twice.

        Raises:
            FencepostError: `settings_changed`; the row has another version than `replaces`.
        """
        fields = {name: content for name, content in to_item(value).items() if name != "version"}
        condition = None if replaces is None else _has_version(replaces)
        written = self._table.update(key, *set_item(fields), VersionedRow.version.add(1), condition=condition)
        if isinstance(written, Refused):
            raise FencepostError(ErrorCode.SETTINGS_CHANGED)
        return written

    def _replace_site(self, before: Site | None, stored: Site) -> bool:
        """Write a site and its public key in one transaction; False where another writer came first.

        Raises:
            FencepostError: `site_key_taken`.
        """
        reference = to_item(SiteReference(stored.org, stored.id)) | keys.public_key_row(stored.key)
        is_own = all_of(PublicKeyRow.org == stored.org, PublicKeyRow.site == stored.id)
        is_free = any_of(PublicKeyRow.pk.does_not_exist(), is_own)
        writes = {
            "site": self._replace(to_item(stored) | keys.site_row(stored.org, stored.id), before),
            "key": self._table.put_write(reference, condition=is_free),
        }
        if before and before.key != stored.key:
            writes["old key"] = self._table.delete_write(keys.public_key_row(before.key))
        cancelled = self._table.transact_with_retry(writes)
        if cancelled and "key" in cancelled.met:
            raise FencepostError(ErrorCode.SITE_KEY_TAKEN)
        return cancelled is None

    def _replace(self, item: Item, before: Site | Membership | None) -> Write:
        """Return the write that stores an item on condition that its row is still the one that was read."""
        return self._table.put_write(item, condition=_has_version(before.version if before else 0))

    def _read[Value: DataclassInstance](self, scope: Scope, kind: type[Value], key: Key) -> Value | None:
        _require_admin(scope)
        item = self._table.get(key)
        return from_item(kind, item) if item else None

    def _rows(self, scope: Scope, prefix: str) -> list[Item]:
        _require_admin(scope)
        partition = DirectoryRow.pk == keys.organisation(scope.org)
        return list(self._table.query(partition & DirectoryRow.sk.startswith(prefix)))


def _has_version(version: int) -> Condition:
    """Return the condition that a row has a version; 0 is a row that does not exist."""
    return VersionedRow.version == version if version else VersionedRow.pk.does_not_exist()


def _require_admin(scope: Scope) -> None:
    """Refuse scopes of other actions: a permission to read conversations gives no access to settings."""
    if scope.action is not Action.ADMINISTER:
        raise Denied("not_an_admin")
