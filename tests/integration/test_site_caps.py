"""A site's caps beside the deployment's on DynamoDB: racing processes never get more than either."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from fencepost.kernel.errors import FencepostError
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.ledger import DayBill, Reservation
from fencepost.limits.dynamodb.ledger import DynamoDbLedger, site_account
from fencepost.limits.service.site_caps import SiteLedger
from local.emulator import Emulator
from tests.integration.tables import Books, open_books
from tests.worlds.chat import NOON

CENT = MicroDollars(10_000)
RACERS = 24


def caps(calls: int) -> Caps:
    return Caps(calls, MicroDollars(100 * CENT))


def bill(books: Books, account: str = "") -> DayBill:
    key = {"pk": {"S": f"{account}day#{NOON.date().isoformat()}"}}
    item = books.client.get_item(TableName=books.table, Key=key).get("Item", {})
    calls, committed, spent = (int(item.get(name, {"N": "0"})["N"]) for name in ("calls", "committed", "spent"))
    return DayBill(calls, MicroDollars(committed), MicroDollars(spent))


@pytest.mark.parametrize(("deployment", "site"), [(7, 40), (40, 7), (9, 8)])
def test_racing_calls_never_get_more_than_either_cap(emulator: Emulator, deployment: int, site: int) -> None:
    books, account = open_books(emulator.endpoint_url), site_account("acme", "docs")
    own = DynamoDbLedger(books.table, lambda: books.client, account=account)
    ledger = SiteLedger(books.ledger, own, caps(site))

    def ask(_: int) -> Reservation | None:
        try:
            return ledger.reserve(CENT, caps(deployment), NOON)
        except FencepostError:
            return None

    with ThreadPoolExecutor(RACERS) as racers:
        granted = [permit for permit in racers.map(ask, range(RACERS)) if permit]
    assert 0 < len(granted) <= min(deployment, site)
    taken = DayBill(len(granted), MicroDollars(len(granted) * CENT))
    assert bill(books) == bill(books, account) == taken
    ledger.settle(granted[0], MicroDollars(70))
    assert bill(books).spent == bill(books, account).spent == 70


def test_two_sites_have_two_bills(emulator: Emulator) -> None:
    books = open_books(emulator.endpoint_url)
    for site in ("docs", "shop"):
        own = DynamoDbLedger(books.table, lambda: books.client, account=site_account("acme", site))
        SiteLedger(books.ledger, own, caps(1)).reserve(CENT, caps(9), NOON)
    assert bill(books).calls == 2
    assert bill(books, site_account("acme", "docs")).calls == bill(books, site_account("acme", "shop")).calls == 1
