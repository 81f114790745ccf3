"""The directory in DynamoDB: organisations, sites and memberships, each a row of its organisation's partition."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, override

from fencepost.identity import rows as keys
from fencepost.identity.domain.origins import Origin
from fencepost.identity.domain.scope import Membership
from fencepost.identity.domain.sites import Organisation, Site
from fencepost.identity.dynamodb.seconds_cache import SecondsCache, Timer
from fencepost.identity.dynamodb.site_origins import OrgOrigins, org_origins
from fencepost.identity.ports import Directory
from fencepost.kernel.aws import keys as aws_keys
from fencepost.kernel.aws.legacy.client import ClientFactory, Item, dynamodb_client, store_errors
from fencepost.kernel.aws.legacy.rows import from_item
from fencepost.kernel.errors import ErrorCode, FencepostError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class SiteReference:
    """Where a site's public key leads."""

    org: str
    site: str


class DynamoDbDirectory(Directory):
    """Implements `fencepost.identity.ports.Directory`.

    Args:
        table: its name.
        client: makes or returns the client, at the first use.
        timer: what the age of copies is measured by.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client, timer: Timer = time.monotonic) -> None:
        self._table = table
        self._client = client
        self._sites = SecondsCache[Site](timer)
        self._sites_by_key = SecondsCache[Site](timer)
        self._organisations = SecondsCache[Organisation](timer)
        self._origins = SecondsCache[OrgOrigins](timer)

    @override
    def site_by_key(self, key: str) -> Site | None:
        if known := self._sites_by_key.get(key):
            return known
        reference = self._read(SiteReference, keys.public_key_row(key))
        site = self._site(reference.org, reference.site) if reference else None
        # Between the two reads the site may have taken another key.
        if site is None or site.key != key or not site.active:
            return None
        return self._sites_by_key.keep(key, site)

    @override
    def site(self, org: str, site_id: str) -> Site | None:
        return self._sites.get(_name(org, site_id)) or self._site(org, site_id)

    @override
    def organisation(self, org: str) -> Organisation | None:
        if known := self._organisations.get(org):
            return known
        organisation = self._read(Organisation, keys.organisation_row(org))
        return self._organisations.keep(org, organisation) if organisation else None

    @override
    def origins(self, org: str) -> frozenset[Origin]:
        known = self._origins.get(org)
        return (known or self._origins.keep(org, org_origins(self._client(), self._table, org))).origins

    @override
    def membership(self, org: str, user: str) -> Membership | None:
        return self._read(Membership, keys.membership_row(org, user))

    def _site(self, org: str, site_id: str) -> Site | None:
        site = self._read(Site, keys.site_row(org, site_id))
        return self._sites.keep(_name(org, site_id), site) if site else None

    def _read[Row: DataclassInstance](self, kind: type[Row], key: aws_keys.Key) -> Row | None:
        item = self._item(key)
        return from_item(kind, item) if item else None

    def _item(self, key: aws_keys.Key) -> Item | None:
        try:
            return self._client().get_item(TableName=self._table, Key=key, ConsistentRead=True).get("Item")
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None


def _name(org: str, site_id: str) -> str:
    return f"{org}/{site_id}"
