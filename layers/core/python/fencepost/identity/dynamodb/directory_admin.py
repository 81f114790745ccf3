"""Changes to the directory in DynamoDB. Each raises the version of the row that it changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, override

from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Action, Denied, Membership, OrgRole, Scope
from fencepost.identity.domain.sites import Organisation, Site
from fencepost.identity.dynamodb.directory import SiteReference
from fencepost.identity.ports import DirectoryAdmin
from fencepost.kernel.aws import keys as aws_keys
from fencepost.kernel.aws.legacy.client import Item, OneTable, Refused, store_errors, update
from fencepost.kernel.aws.legacy.rows import attribute, from_item, to_item
from fencepost.kernel.aws.legacy.transactions import transact_with_retry
from fencepost.kernel.errors import ErrorCode, FencepostError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import PutTypeDef, TransactWriteItemTypeDef, UpdateItemInputTypeDef

_ATTEMPTS: Final = 8
"""How often a row is written anew because somebody else was faster."""


class DynamoDbDirectoryAdmin(OneTable, DirectoryAdmin):
    """Implements `fencepost.identity.ports.DirectoryAdmin`."""

    @override
    def organisation(self, scope: Scope) -> Organisation | None:
        return self._read(scope, Organisation, keys.organisation_row(scope.org))

    @override
    def put_organisation(
        self, scope: Scope, organisation: Organisation, *, replaces: int | None = None
    ) -> Organisation:
        _require_admin(scope)
        named = replace(organisation, id=scope.org)
        self._enrol(scope.org)
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
        """Of two admins who end each other, one meets the other's transaction."""
        key = keys.membership_row(scope.org, membership.user)
        for _ in range(_ATTEMPTS):
            before = self._read(scope, Membership, key)
            if admin == membership.user and not (before and before.administers):
                return None
            stored = replace(membership, org=scope.org, version=before.version + 1 if before else 1)
            # A row takes one action of a transaction: the admin's own is checked by its version.
            others = {} if admin == membership.user else {"admin": self._check_admin(scope.org, admin)}
            actions = {"membership": self._put(to_item(stored) | key, before), **others}
            cancelled = transact_with_retry(self._client(), actions)
            if cancelled is None:
                return stored
            if "admin" in cancelled.met:
                return None
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)

    @override
    def put_site(self, scope: Scope, site: Site, *, replaces: int | None = None) -> Site:
        _require_admin(scope)
        self._enrol(scope.org)
        for _ in range(_ATTEMPTS):
            before = self.site(scope, site.id)
            version = before.version if before else 0
            if replaces not in (None, version):
                raise FencepostError(ErrorCode.SETTINGS_CHANGED)
            stored = replace(site, org=scope.org, version=version + 1)
            if self._is_written(before, stored):
                return stored
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)

    @override
    def sites(self, scope: Scope) -> tuple[Site, ...]:
        return tuple(from_item(Site, row) for row in self._rows(scope, keys.SITES))

    @override
    def memberships(self, scope: Scope) -> tuple[Membership, ...]:
        return tuple(from_item(Membership, row) for row in self._rows(scope, keys.MEMBERS))

    def _enrol(self, org: str) -> None:
        """List an organisation before anything is made of it: so none is missing in `OrganisationRoll`."""
        with self._answering() as client:
            client.put_item(TableName=self._table, Item=keys.registry_row(org))

    def _update(self, key: aws_keys.Key, value: DataclassInstance, replaces: int | None = None) -> Item:
        """Write a row in one step; the store counts its version, so none is given twice.

        Raises:
            FencepostError: `settings_changed`; the row is not of the version that it was to have.
        """
        fields = {name: content for name, content in to_item(value).items() if name != "version"}
        values = {f":{name}": content for name, content in fields.items()} | {":one": attribute(1)}
        request: UpdateItemInputTypeDef = {
            "TableName": self._table,
            "Key": key,
            "UpdateExpression": f"SET {', '.join(f'#{name} = :{name}' for name in fields)} ADD #version :one",
            "ExpressionAttributeNames": {f"#{name}": name for name in (*fields, "version")},
            "ExpressionAttributeValues": values,
            "ReturnValues": "ALL_NEW",
        }
        if replaces == 0:
            request["ConditionExpression"] = "attribute_not_exists(pk)"
        elif replaces is not None:
            request["ConditionExpression"] = "#version = :replaces"
            request["ExpressionAttributeValues"] = {**values, ":replaces": attribute(replaces)}
        written = update(self._client(), request, ErrorCode.CONVERSATIONS_UNAVAILABLE)
        if isinstance(written, Refused):
            raise FencepostError(ErrorCode.SETTINGS_CHANGED)
        return written

    def _is_written(self, before: Site | None, stored: Site) -> bool:
        """Write a site and the way to it from its public key together; False where another writer came first.

        Raises:
            FencepostError: `site_key_taken`.
        """
        row = to_item(stored) | keys.site_row(stored.org, stored.id)
        actions = {"site": self._put(row, before), "key": self._put_key(stored)}
        if before and before.key != stored.key:
            actions["old key"] = {"Delete": {"TableName": self._table, "Key": keys.public_key_row(before.key)}}
        cancelled = transact_with_retry(self._client(), actions)
        if cancelled and "key" in cancelled.met:
            raise FencepostError(ErrorCode.SITE_KEY_TAKEN)
        return cancelled is None

    def _put(self, item: Item, before: Site | Membership | None) -> TransactWriteItemTypeDef:
        """Put a row in place of what was read, or of none."""
        put: PutTypeDef = {
            "TableName": self._table,
            "Item": item,
            "ConditionExpression": "attribute_not_exists(pk)",
        }
        if before:
            put["ConditionExpression"] = "version = :before"
            put["ExpressionAttributeValues"] = {":before": attribute(before.version)}
        return {"Put": put}

    def _check_admin(self, org: str, user: str) -> TransactWriteItemTypeDef:
        return {
            "ConditionCheck": {
                "TableName": self._table,
                "Key": keys.membership_row(org, user),
                "ConditionExpression": "active = :true AND #role = :admin",
                "ExpressionAttributeNames": {"#role": "role"},
                "ExpressionAttributeValues": {":true": attribute(True), ":admin": attribute(OrgRole.ADMIN)},
            }
        }

    def _put_key(self, stored: Site) -> TransactWriteItemTypeDef:
        return {
            "Put": {
                "TableName": self._table,
                "Item": to_item(SiteReference(stored.org, stored.id)) | keys.public_key_row(stored.key),
                "ConditionExpression": "attribute_not_exists(pk) OR (org = :org AND site = :site)",
                "ExpressionAttributeValues": {":org": {"S": stored.org}, ":site": {"S": stored.id}},
            }
        }

    def _read[Row: DataclassInstance](self, scope: Scope, kind: type[Row], key: aws_keys.Key) -> Row | None:
        _require_admin(scope)
        with self._answering() as client:
            item = client.get_item(TableName=self._table, Key=key, ConsistentRead=True).get("Item")
        return from_item(kind, item) if item else None

    def _rows(self, scope: Scope, prefix: str) -> list[Item]:
        _require_admin(scope)
        with self._answering() as client:
            pages = client.get_paginator("query").paginate(
                TableName=self._table,
                ConsistentRead=True,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
                ExpressionAttributeValues={":pk": {"S": keys.organisation(scope.org)}, ":prefix": {"S": prefix}},
            )
            return [row for page in pages for row in page["Items"]]

    @contextmanager
    def _answering(self) -> Iterator[DynamoDBClient]:
        try:
            yield self._client()
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None


def _require_admin(scope: Scope) -> None:
    """Refuse a scope that was made for something else: reading a conversation opens no settings."""
    if scope.action is not Action.ADMINISTER:
        raise Denied("not_an_admin")
