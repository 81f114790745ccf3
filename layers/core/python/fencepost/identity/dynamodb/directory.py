"""The directory in DynamoDB: organisations, sites and memberships, each a row of its organisation's partition."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol, override

from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Membership
from fencepost.identity.domain.sites import Organisation, Origin, Site
from fencepost.identity.ports import Directory
from fencepost.kernel.aws import keys as aws_keys
from fencepost.kernel.aws.legacy.client import ClientFactory, Item, dynamodb_client, store_errors
from fencepost.kernel.aws.legacy.rows import from_item
from fencepost.kernel.errors import ErrorCode, FencepostError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from mypy_boto3_dynamodb import DynamoDBClient


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


SECONDS: Final = 5.0
"""How old a copy may get: a change is in force everywhere within this time."""
MAX_COPIES: Final = 1_000

type Timer = Callable[[], float]


class Versioned(Protocol):
    """A value that is replaced by one of a higher version."""

    @property
    def version(self) -> int:
        """Raised with every change."""
        ...


@dataclass(frozen=True, slots=True)
class _Copy[Value]:
    value: Value
    until: float


class SecondsCache[Value: Versioned]:
    """Keeps values by their keys. What is absent is not kept: who is new is known at once. Safe in threads.

    Args:
        timer: a clock that never goes back, in seconds.
    """

    def __init__(self, timer: Timer = time.monotonic) -> None:
        self._timer = timer
        self._copies: dict[str, _Copy[Value]] = {}
        self._lock = Lock()

    def get(self, key: str) -> Value | None:
        """Return a copy that is young enough."""
        copy = self._copies.get(key)
        return copy.value if copy and self._timer() < copy.until else None

    def keep(self, key: str, value: Value) -> Value:
        """Keep a value that was just read, and return the newest one that is known.

        A slow reader may come with an older version than a faster one brought: it changes nothing.
        """
        with self._lock:
            known = self._copies.get(key)
            if known and self._timer() < known.until and known.value.version > value.version:
                return known.value
            self._copies.pop(key, None)
            while len(self._copies) >= MAX_COPIES:
                del self._copies[next(iter(self._copies))]
            self._copies[key] = _Copy(value, self._timer() + SECONDS)
            return value


@dataclass(frozen=True, slots=True)
class OrgOrigins:
    """What all active sites of an organisation list.

    Attributes:
        version: the sites' versions added up: each change of one raises it, and no site's row is ever removed.
    """

    origins: frozenset[Origin]
    version: int


def org_origins(client: DynamoDBClient, table: str, org: str) -> OrgOrigins:
    """Read an organisation's sites.

    Raises:
        FencepostError: `conversations_unavailable`.
    """
    try:
        pages = client.get_paginator("query").paginate(
            TableName=table,
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
            ExpressionAttributeValues={":pk": {"S": keys.organisation(org)}, ":prefix": {"S": keys.SITES}},
        )
        sites = [from_item(Site, row) for page in pages for row in page["Items"]]
    except store_errors():
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
    origins = frozenset(origin for site in sites if site.active for origin in site.origins)
    return OrgOrigins(origins, sum(site.version for site in sites))
