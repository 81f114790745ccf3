"""Reads of the directory in DynamoDB. Organisations and sites are cached for seconds, memberships never."""

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
from fencepost.identity.rows import SiteReference, SiteRow
from fencepost.kernel.aws.rows import Key, from_item
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Table

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SECONDS: Final = 5.0
"""Greatest age of a cached copy: a change is in force everywhere within this time."""
MAX_COPIES: Final = 1_000

type Timer = Callable[[], float]


class DynamoDbDirectory(Directory):
    """Implements `fencepost.identity.ports.Directory`.

    Args:
        table: name of the directory's table.
        client: makes or returns the client; called at the first use.
        timer: monotonic clock, in seconds, for the age of copies.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client, timer: Timer = time.monotonic) -> None:
        self._table = Table(table, client)
        self._sites = SecondsCache[Site](timer)
        self._sites_by_key = SecondsCache[Site](timer)
        self._organisations = SecondsCache[Organisation](timer)
        self._origins = SecondsCache[OrgOrigins](timer)

    @override
    def site_by_key(self, key: str) -> Site | None:
        if known := self._sites_by_key.get(key):
            return known
        reference = self._read(SiteReference, keys.public_key_row(key))
        site = self._read_site(reference.org, reference.site) if reference else None
        # Between the two reads the site may have taken another key.
        if site is None or site.key != key or not site.active:
            return None
        return self._sites_by_key.keep(key, site)

    @override
    def site(self, org: str, site_id: str) -> Site | None:
        return self._sites.get(_cache_key(org, site_id)) or self._read_site(org, site_id)

    @override
    def organisation(self, org: str) -> Organisation | None:
        if known := self._organisations.get(org):
            return known
        organisation = self._read(Organisation, keys.organisation_row(org))
        return self._organisations.keep(org, organisation) if organisation else None

    @override
    def origins(self, org: str) -> frozenset[Origin]:
        if known := self._origins.get(org):
            return known.origins
        rows = self._table.query((SiteRow.pk == keys.organisation(org)) & SiteRow.sk.startswith(keys.SITES))
        sites = [from_item(Site, row) for row in rows]
        origins = frozenset(origin for site in sites if site.active for origin in site.origins)
        return self._origins.keep(org, OrgOrigins(origins, sum(site.version for site in sites))).origins

    @override
    def membership(self, org: str, user: str) -> Membership | None:
        return self._read(Membership, keys.membership_row(org, user))

    def _read_site(self, org: str, site_id: str) -> Site | None:
        site = self._read(Site, keys.site_row(org, site_id))
        return self._sites.keep(_cache_key(org, site_id), site) if site else None

    def _read[Value: DataclassInstance](self, kind: type[Value], key: Key) -> Value | None:
        item = self._table.get(key)
        return from_item(kind, item) if item else None


def _cache_key(org: str, site_id: str) -> str:
    return f"{org}/{site_id}"


class Versioned(Protocol):
    """A value whose version rises with every change."""

    @property
    def version(self) -> int:
        """Number of the change that made this value."""
        ...


@dataclass(frozen=True, slots=True)
class OrgOrigins:
    """The origins that all active sites of an organisation list.

    Attributes:
        version: sum of the versions of all sites. A change of one site raises it, since rows of sites are never
            removed.
    """

    origins: frozenset[Origin]
    version: int


@dataclass(frozen=True, slots=True)
class _Copy[Value]:
    value: Value
    until: float


class SecondsCache[Value: Versioned]:
    """Cache of values for `SECONDS`. Absence is not cached, so new values are seen at once. Safe in threads.

    Args:
        timer: monotonic clock, in seconds.
    """

    def __init__(self, timer: Timer = time.monotonic) -> None:
        self._timer = timer
        self._copies: dict[str, _Copy[Value]] = {}
        self._lock = Lock()

    def get(self, key: str) -> Value | None:
        """Return the value under a key, unless its copy is too old."""
        copy = self._copies.get(key)
        return copy.value if copy and self._timer() < copy.until else None

    def keep(self, key: str, value: Value) -> Value:
        """Keep a value that was just read, and return the newest value that is known.

        A value of a lower version than the cached one, as a slow reader may bring, is dropped.
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
