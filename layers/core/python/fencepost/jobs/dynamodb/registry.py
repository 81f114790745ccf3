"""The registry of organisations, and whose turn was last, in the directory's table."""

from __future__ import annotations

from typing import override
from urllib.parse import unquote

from fencepost.identity.rows import REGISTRY, RegistryRow, registry_row
from fencepost.jobs.ports import OrganisationRegistry
from fencepost.jobs.rows import RoundRow, round_row
from fencepost.kernel.aws.rows import attribute, plain
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Table
from fencepost.kernel.paging import Page

_DONE = RoundRow.done.attr_name


class DynamoDbOrganisationRegistry(OrganisationRegistry):
    """Implements `fencepost.jobs.ports.OrganisationRegistry` on `RegistryRow` and `RoundRow`.

    Args:
        table: name of the directory's table.
        client: makes or returns the client; called at the first use.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client) -> None:
        self._table = Table(table, client)

    @override
    def page(self, *, after: str | None, limit: int) -> Page[str]:
        start = None if after is None else registry_row(after)
        page = self._table.query_page(RegistryRow.pk == REGISTRY, limit=limit, start=start)
        orgs = tuple(unquote(item["sk"]["S"]) for item in page.items)
        return Page(orgs, orgs[-1] if orgs and page.next_key else None)

    @override
    def last_done(self) -> str | None:
        row = self._table.get(round_row()) or {}
        return plain(row[_DONE]) if _DONE in row else None

    @override
    def done(self, org: str) -> None:
        self._table.put(round_row() | {_DONE: attribute(org)})
