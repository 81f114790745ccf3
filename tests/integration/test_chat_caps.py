"""Both daily caps and the address limits, at the level where they are felt: the endpoint, a store, a provider."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import httpx
import pytest

from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.requests import RateLimits
from fencepost.limits.dynamodb.limiter import DynamoDbAddressLimiter
from fencepost.model.anthropic.claude import Claude
from fencepost.observability.domain.events import LedgerEvent
from local.emulator import Emulator
from local.provider.app import create_app
from tests.doubles.servers import serve
from tests.fakes.answers import FakeKeys
from tests.integration.tables import Books, create_table, open_books
from tests.worlds.chat import MODEL, WIDE_LIMITS, World

ATTEMPTS, THREADS, CAP = 500, 64, 100
NO_MONEY_CAP = MicroDollars(10**9)


@dataclass(frozen=True)
class Provider:
    """The stand-in, over a socket."""

    url: str

    @property
    def calls(self) -> int:
        """Requests that arrived."""
        return int(httpx.get(f"{self.url}/control/requests").json()["count"])

    def always_fails(self) -> None:
        """Answer every call to come with a failure of unknown cost."""
        httpx.post(f"{self.url}/control", json={"next": [{"status": 500, "times": ATTEMPTS}]}).raise_for_status()


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serve(create_app()) as url:
        yield Provider(url)


@pytest.fixture
def books(emulator: Emulator) -> Books:
    return open_books(emulator.endpoint_url)


def world(books: Books, provider: Provider, caps: Caps, limits: RateLimits = WIDE_LIMITS) -> World:
    keys = FakeKeys()
    limiter = DynamoDbAddressLimiter(create_table(books.client), keys, lambda: books.client)
    model = Claude(keys, model=MODEL, base_url=provider.url, connect_seconds=60, total_seconds=120)
    return World(keys=keys, limiter=limiter, limits=limits, ledger=books.ledger, model=model, caps=caps)


def statuses(world: World) -> Counter[int]:
    with ThreadPoolExecutor(THREADS) as threads:
        return Counter(threads.map(lambda _: int(world.ask().status), range(ATTEMPTS)))


def test_the_call_cap_is_exact(books: Books, provider: Provider) -> None:
    racing = world(books, provider, Caps(CAP, NO_MONEY_CAP))
    assert statuses(racing) == {200: CAP, 429: ATTEMPTS - CAP}
    assert provider.calls == CAP
    bill = books.bill(racing.clock.now.date())
    assert (bill.calls, bill.committed) == (CAP, bill.spent)


def test_the_money_cap_is_exact(books: Books, provider: Provider) -> None:
    provider.always_fails()
    probe = world(open_books(books.client.meta.endpoint_url), provider, Caps(1, NO_MONEY_CAP))
    probe.ask()
    worst_case = probe.events.of(LedgerEvent)[0].reserved_microdollars
    racing = world(books, provider, Caps(ATTEMPTS, MicroDollars(CAP * worst_case + worst_case - 1)))
    assert statuses(racing) == {502: CAP, 429: ATTEMPTS - CAP}
    assert provider.calls == CAP + 1
    assert books.bill(racing.clock.now.date()).committed == CAP * worst_case


def test_an_address_gets_exactly_its_share(books: Books, provider: Provider) -> None:
    racing = world(books, provider, Caps(ATTEMPTS, NO_MONEY_CAP), RateLimits(CAP, ATTEMPTS))
    assert statuses(racing) == {200: CAP, 429: ATTEMPTS - CAP}
    assert provider.calls == CAP
