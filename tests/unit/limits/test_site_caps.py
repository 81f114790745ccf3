"""A site's caps under the deployment's: both hold, whichever refuses, and whatever fails on the way."""

from __future__ import annotations

from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.ledger import DayBill, Reservation
from fencepost.limits.service.block_leasing import BlockLeasingLedger
from fencepost.limits.service.site_caps import SiteLedger
from tests.fakes.answers import FakeLedger
from tests.worlds.chat import NOON

CENT = MicroDollars(10_000)
WIDE = Caps(1_000, MicroDollars(1_000 * CENT))


def caps(calls: int, cents: int = 1_000) -> Caps:
    return Caps(calls, MicroDollars(cents * CENT))


def bill(ledger: FakeLedger) -> DayBill:
    return ledger.bill(NOON.date())


@pytest.mark.parametrize(
    ("deployment", "site", "code"),
    [
        (caps(1), WIDE, ErrorCode.DAILY_CALLS_EXHAUSTED),
        (WIDE, caps(1), ErrorCode.DAILY_CALLS_EXHAUSTED),
        (caps(9, 1), WIDE, ErrorCode.DAILY_SPEND_EXHAUSTED),
        (WIDE, caps(9, 1), ErrorCode.DAILY_SPEND_EXHAUSTED),
        (caps(1), caps(9, 1), ErrorCode.DAILY_CALLS_EXHAUSTED),
    ],
)
def test_whichever_refuses_the_other_gives_back(deployment: Caps, site: Caps, code: ErrorCode) -> None:
    ours, sites = FakeLedger(), FakeLedger()
    ledger = SiteLedger(ours, sites, site)
    ledger.reserve(CENT, deployment, NOON)
    with pytest.raises(FencepostError) as refused:
        ledger.reserve(CENT, deployment, NOON)
    assert refused.value.code is code
    assert bill(ours) == bill(sites) == DayBill(1, CENT)


def test_what_a_call_costs_is_on_both_bills() -> None:
    ours, sites = FakeLedger(), FakeLedger()
    ledger = SiteLedger(ours, sites, WIDE)
    reservation = ledger.reserve(CENT, WIDE, NOON)
    for _ in range(2):
        ledger.settle(reservation, MicroDollars(70))
    assert bill(ours) == bill(sites) == DayBill(1, MicroDollars(70), MicroDollars(70))


def test_a_permit_that_is_cancelled_leaves_both_bills_as_they_were() -> None:
    ours, sites = FakeLedger(), FakeLedger()
    ledger = SiteLedger(ours, sites, WIDE)
    ledger.cancel(ledger.reserve(CENT, WIDE, NOON))
    assert bill(ours) == bill(sites) == DayBill()


def test_a_call_dearer_than_the_sites_day_is_a_mistake_of_its_settings() -> None:
    ours = FakeLedger()
    with pytest.raises(FencepostError) as refused:
        SiteLedger(ours, FakeLedger(), Caps(9, MicroDollars(1))).reserve(CENT, WIDE, NOON)
    assert refused.value.code is ErrorCode.MISCONFIGURED
    assert bill(ours) == DayBill()


def test_a_sites_ledger_that_does_not_answer_fails_closed() -> None:
    ours, sites = FakeLedger(), FakeLedger()
    sites.faults.append("after")
    with pytest.raises(FencepostError) as refused:
        SiteLedger(ours, sites, WIDE).reserve(CENT, WIDE, NOON)
    assert refused.value.code is ErrorCode.LEDGER_UNAVAILABLE
    assert bill(ours) == DayBill()
    # It wrote, and only its answer was lost: too much is counted, and never too little.
    assert bill(sites) == DayBill(1, CENT)


def test_racing_calls_never_get_more_than_either_cap() -> None:
    ours, sites, granted, told = FakeLedger(), FakeLedger(), list[Reservation](), set[ErrorCode]()
    ledger = SiteLedger(ours, sites, caps(7))

    def ask() -> None:
        try:
            granted.append(ledger.reserve(CENT, caps(9), NOON))
        except FencepostError as error:
            told.add(error.code)

    threads = [Thread(target=ask) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == {ErrorCode.DAILY_CALLS_EXHAUSTED}
    assert len(granted) <= 7
    assert bill(ours) == bill(sites) == DayBill(len(granted), MicroDollars(len(granted) * CENT))


@given(st.lists(st.sampled_from(["reserve", "settle", "cancel"]), max_size=30), st.integers(1, 5))
def test_a_leasing_ledger_takes_permits_back_too(steps: list[str], block: int) -> None:
    store = FakeLedger()
    ledger, open_ones, settled = BlockLeasingLedger(store, block), list[Reservation](), 0
    for step in steps:
        if step == "reserve":
            open_ones.append(ledger.reserve(CENT, WIDE, NOON))
        elif open_ones and step == "settle":
            ledger.settle(open_ones.pop(), MicroDollars(70))
            settled += 1
        elif open_ones:
            ledger.cancel(open_ones.pop())
    assert len({reservation.id for reservation in open_ones}) == len(open_ones)
    ledger.close()
    for reservation in open_ones:
        ledger.cancel(reservation)
    assert bill(store) == DayBill(settled, MicroDollars(70 * settled), MicroDollars(70 * settled))
