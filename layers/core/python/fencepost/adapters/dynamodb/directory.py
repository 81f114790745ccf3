"""The directory in DynamoDB: organisations, sites and memberships, each a row of its organisation's partition."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fencepost.adapters.dynamodb import keys
from fencepost.adapters.dynamodb.client import ClientFactory, Item, dynamodb_client, store_errors
from fencepost.adapters.dynamodb.rows import from_item
from fencepost.adapters.dynamodb.site_origins import OrgOrigins, org_origins
from fencepost.adapters.seconds_cache import SecondsCache, Timer
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.identity import Membership
from fencepost.domain.origins import Origin
from fencepost.domain.sites import Organisation, Site

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class SiteReference:
    """Where a site's public key leads."""

    org: str
    site: str


class DynamoDbDirectory:
    """Implements `fencepost.ports.Directory`.

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

    def site_by_key(self, key: str) -> Site | None:
        """See `fencepost.ports.Directory`."""
        if known := self._sites_by_key.get(key):
            return known
        reference = self._read(SiteReference, keys.public_key_row(key))
        site = self._site(reference.org, reference.site) if reference else None
        # Between the two reads the site may have taken another key.
        if site is None or site.key != key or not site.active:
            return None
        return self._sites_by_key.keep(key, site)

    def site(self, org: str, site_id: str) -> Site | None:
        """See `fencepost.ports.Directory`."""
        return self._sites.get(_name(org, site_id)) or self._site(org, site_id)

    def organisation(self, org: str) -> Organisation | None:
        """See `fencepost.ports.Directory`."""
        if known := self._organisations.get(org):
            return known
        organisation = self._read(Organisation, keys.organisation_row(org))
        return self._organisations.keep(org, organisation) if organisation else None

    def origins(self, org: str) -> frozenset[Origin]:
        """See `fencepost.ports.Directory`."""
        known = self._origins.get(org)
        return (known or self._origins.keep(org, org_origins(self._client(), self._table, org))).origins

    def membership(self, org: str, user: str) -> Membership | None:
        """See `fencepost.ports.Directory`."""
        return self._read(Membership, keys.membership_row(org, user))

    def _site(self, org: str, site_id: str) -> Site | None:
        site = self._read(Site, keys.site_row(org, site_id))
        return self._sites.keep(_name(org, site_id), site) if site else None

    def _read[Row: DataclassInstance](self, kind: type[Row], key: keys.Key) -> Row | None:
        item = self._item(key)
        return from_item(kind, item) if item else None

    def _item(self, key: keys.Key) -> Item | None:
        try:
            return self._client().get_item(TableName=self._table, Key=key, ConsistentRead=True).get("Item")
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None


def _name(org: str, site_id: str) -> str:
    return f"{org}/{site_id}"
