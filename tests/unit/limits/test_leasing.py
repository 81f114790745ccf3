"""Block leasing, case by case; its rules in any order are in test_ledger_rules."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import pytest

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.ledger import DayBill
from fencepost.limits.service.block_leasing import LEASE_LIFETIME, MAX_BLOCK, BlockLeasingLedger
from tests.fakes.answers import FakeLedger

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TODAY = NOON.date()
TEN = MicroDollars(10)
PLENTY = Caps(1_000, MicroDollars(100_000))


def busy(store: FakeLedger, block: int = 8, now: datetime = NOON) -> BlockLeasingLedger:
    """Return an instance that has just used up blocks of 1 and 2, and leases 4 next."""
    leasing = BlockLeasingLedger(store, block)
    for _ in range(3):
        leasing.settle(leasing.reserve(TEN, PLENTY, now), TEN)
    store.writes = 0
    return leasing


def test_a_block_grows_while_it_is_used_up_in_time() -> None:
    store = FakeLedger()
    leasing, writes = BlockLeasingLedger(store, 8), []
    for _ in range(24):
        leasing.settle(leasing.reserve(TEN, PLENTY, NOON), TEN)
        writes.append(store.writes)
    # A write where a block of 1, 2, 4, 8 and again 8 begins, and another where it ends.
    assert [number for number in range(1, 24) if writes[number] > writes[number - 1]] == [1, 2, 3, 6, 7, 14, 15, 22, 23]
    assert writes[-1] == 11


def test_a_block_is_never_larger_than_one_write_can_close() -> None:
    store = FakeLedger()
    leasing = BlockLeasingLedger(store, 1_000)
    caps = Caps(100_000, PLENTY.spend)
    for _ in range(400):
        before = store.bill(TODAY).calls
        leasing.settle(leasing.reserve(TEN, caps, NOON), TEN)
        assert store.bill(TODAY).calls - before <= MAX_BLOCK


def test_a_negative_cost_makes_no_room() -> None:
    store = FakeLedger()
    leasing = busy(store)
    reservation, bill = leasing.reserve(TEN, PLENTY, NOON), store.bill(TODAY)
    for ledger in (leasing, store):
        with pytest.raises(ValueError, match="negative"):
            ledger.settle(reservation, MicroDollars(-1))
    assert store.bill(TODAY) == bill


def test_an_instance_that_is_rarely_asked_strands_nothing() -> None:
    store = FakeLedger()
    leasing = BlockLeasingLedger(store, 8)
    for hour in range(3):
        leasing.settle(leasing.reserve(TEN, PLENTY, NOON + timedelta(hours=hour)), MicroDollars(4))
        assert store.bill(TODAY) == DayBill(hour + 1, MicroDollars(4 * hour + 4), MicroDollars(4 * hour + 4))


def test_an_expired_lease_gives_back_what_it_did_not_use() -> None:
    store = FakeLedger()
    leasing = busy(store)
    leasing.settle(leasing.reserve(TEN, PLENTY, NOON), TEN)
    assert store.bill(TODAY).calls == 3 + 4
    leasing.settle(leasing.reserve(TEN, PLENTY, NOON + LEASE_LIFETIME), TEN)
    assert store.bill(TODAY) == DayBill(5, MicroDollars(50), MicroDollars(50))


def test_a_lease_ends_with_its_day() -> None:
    store = FakeLedger()
    last_second = datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC)
    leasing = busy(store, now=last_second)
    before = leasing.reserve(TEN, PLENTY, last_second)
    after = leasing.reserve(TEN, PLENTY, last_second + timedelta(seconds=1))
    leasing.settle(before, MicroDollars(3))
    leasing.settle(after, MicroDollars(4))
    leasing.close()
    assert store.bill(date(2026, 3, 1)) == DayBill(4, MicroDollars(33), MicroDollars(33))
    assert store.bill(date(2026, 3, 2)) == DayBill(1, MicroDollars(4), MicroDollars(4))


@pytest.mark.parametrize("lowered", [Caps(4, PLENTY.spend), Caps(PLENTY.calls, MicroDollars(40))])
def test_an_instance_that_sees_a_lowered_cap_obeys_it_at_once(lowered: Caps) -> None:
    leasing = busy(FakeLedger())
    leasing.reserve(TEN, PLENTY, NOON)
    with pytest.raises(FencepostError):
        leasing.reserve(TEN, lowered, NOON)


def test_the_last_permits_are_usable_by_whoever_asks() -> None:
    store, caps = FakeLedger(), Caps(10, PLENTY.spend)
    mine, others = busy(store), BlockLeasingLedger(store, 8)
    granted = [mine.reserve(TEN, caps, NOON)]
    # Mine holds 4 of the last 7; the other can have 3, and mine serves its own to the end.
    granted += [others.reserve(TEN, caps, NOON) for _ in range(3)]
    granted += [mine.reserve(TEN, caps, NOON) for _ in range(3)]
    assert len(granted) == 7
    for leasing in (mine, others):
        with pytest.raises(FencepostError, match="daily_calls_exhausted"):
            leasing.reserve(TEN, caps, NOON)


def test_a_dearer_call_trades_the_lease_for_one_that_can_pay() -> None:
    store, caps = FakeLedger(), Caps(100, MicroDollars(70))
    leasing = busy(store)
    leasing.reserve(TEN, caps, NOON)
    assert leasing.reserve(MicroDollars(30), caps, NOON).amount == 30
    assert store.bill(TODAY).committed == 70


def test_a_call_that_costs_more_than_reserved_is_known_to_the_store_at_once() -> None:
    store = FakeLedger()
    leasing = busy(store)
    call = leasing.reserve(TEN, PLENTY, NOON)
    leasing.settle(call, MicroDollars(95))
    assert store.bill(TODAY) == DayBill(4, MicroDollars(125), MicroDollars(125))


def test_what_a_lease_could_not_give_back_is_given_back_with_the_next_call() -> None:
    store = FakeLedger()
    leasing = busy(store)
    leasing.settle(leasing.reserve(TEN, PLENTY, NOON), TEN)
    store.faults.append("before")
    with pytest.raises(FencepostError) as failed:
        leasing.close()
    assert failed.value.code is ErrorCode.LEDGER_UNAVAILABLE
    assert store.bill(TODAY).calls == 7
    leasing.close()
    assert store.bill(TODAY) == DayBill(4, MicroDollars(40), MicroDollars(40))


def test_a_call_settled_after_its_lease_ended_is_settled_in_the_store() -> None:
    store = FakeLedger()
    leasing = busy(store)
    call = leasing.reserve(TEN, PLENTY, NOON)
    leasing.close()
    assert store.open_marks(TODAY) == {call.id}
    leasing.settle(call, MicroDollars(2))
    leasing.settle(call, MicroDollars(1))
    assert store.open_marks(TODAY) == set()
    assert store.bill(TODAY) == DayBill(4, MicroDollars(32), MicroDollars(32))


def test_calls_at_the_same_time_cost_two_writes_a_block() -> None:
    store = FakeLedger()
    leasing = busy(store)
    calls = [leasing.reserve(TEN, PLENTY, NOON) for _ in range(12)]
    for call in calls:
        leasing.settle(call, TEN)
    assert store.writes == 4
    assert store.bill(TODAY) == DayBill(15, MicroDollars(150), MicroDollars(150))


def test_threads_share_leases_without_losing_a_cent() -> None:
    store = FakeLedger()
    leasing = BlockLeasingLedger(store, 8)

    def turn(number: int) -> int:
        actual = MicroDollars(number % 11)
        leasing.settle(leasing.reserve(TEN, PLENTY, NOON), actual)
        return actual

    with ThreadPoolExecutor(32) as pool:
        spent = MicroDollars(sum(pool.map(turn, range(900))))
    leasing.close()
    assert store.bill(TODAY) == DayBill(900, spent, spent)
