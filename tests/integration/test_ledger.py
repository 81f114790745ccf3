"""The daily caps on DynamoDB: exact under races, across midnight, and at one operation a step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import pytest

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.ledger import DayBill
from fencepost.limits.ports import Ledger
from fencepost.limits.service.block_leasing import BlockLeasingLedger
from local.emulator import Emulator
from tests.integration.tables import Books, open_books, sent_operations

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TODAY = NOON.date()
CENT = MicroDollars(10_000)
PLENTY = Caps(1_000_000, MicroDollars(10**12))
CALLS_BIND = Caps(100, PLENTY.spend)
MONEY_BINDS = Caps(PLENTY.calls, MicroDollars(100 * CENT + CENT - 1))

type Instances = Callable[[Books], list[Ledger]]


@pytest.fixture
def books(emulator: Emulator) -> Books:
    return open_books(emulator.endpoint_url)


def plain(books: Books) -> list[Ledger]:
    return [books.ledger]


def one_instance(books: Books) -> list[Ledger]:
    return [BlockLeasingLedger(books.ledger, 16)]


def four_instances(books: Books) -> list[Ledger]:
    return [BlockLeasingLedger(books.ledger, 16) for _ in range(4)]


@pytest.mark.parametrize("instances", [plain, one_instance, four_instances])
@pytest.mark.parametrize(
    ("caps", "code"),
    [(CALLS_BIND, ErrorCode.DAILY_CALLS_EXHAUSTED), (MONEY_BINDS, ErrorCode.DAILY_SPEND_EXHAUSTED)],
    ids=["calls", "money"],
)
def test_exactly_one_hundred_of_five_hundred_racing_calls_are_granted(
    books: Books, instances: Instances, caps: Caps, code: ErrorCode
) -> None:
    racing = instances(books)

    def attempt(number: int) -> str:
        try:
            racing[number % len(racing)].reserve(CENT, caps, NOON)
        except FencepostError as error:
            return error.code
        return "granted"

    with ThreadPoolExecutor(64) as pool:
        outcomes = Counter(pool.map(attempt, range(500)))
    assert outcomes == {"granted": 100, code: 400}
    assert books.bill(TODAY) == DayBill(100, MicroDollars(100 * CENT))


@pytest.mark.parametrize("instances", [plain, four_instances])
def test_racing_settlements_add_up_to_the_cent(books: Books, instances: Instances) -> None:
    racing = instances(books)

    def turn(number: int) -> int:
        mine, actual = racing[number % len(racing)], MicroDollars(number * 37 % CENT)
        mine.settle(mine.reserve(CENT, PLENTY, NOON), actual)
        return actual

    with ThreadPoolExecutor(64) as pool:
        spent = MicroDollars(sum(pool.map(turn, range(300))))
    for instance in racing:
        if isinstance(instance, BlockLeasingLedger):
            instance.close()
    assert books.bill(TODAY) == DayBill(300, spent, spent)
    assert set(books.item(TODAY)) == {"pk", "calls", "committed", "spent", "expires_at"}


def test_a_turn_takes_one_operation_to_reserve_and_one_to_settle(books: Books) -> None:
    operations = sent_operations(books.client)
    reservation = books.ledger.reserve(CENT, PLENTY, NOON)
    assert operations == ["UpdateItem"]
    books.ledger.settle(reservation, CENT)
    assert operations == ["UpdateItem"] * 2


def test_what_no_empty_day_could_hold_takes_no_operation(books: Books) -> None:
    operations = sent_operations(books.client)
    for caps in (Caps(0, CENT), Caps(1, MicroDollars(CENT - 1))):
        with pytest.raises(FencepostError) as refused:
            books.ledger.reserve(CENT, caps, NOON)
        assert refused.value.retry_after == 12 * 60 * 60
    assert operations == []


def test_leasing_takes_two_operations_a_block(books: Books) -> None:
    operations = sent_operations(books.client)
    leasing = BlockLeasingLedger(books.ledger, 16)
    for _ in range(63):
        leasing.settle(leasing.reserve(CENT, PLENTY, NOON), CENT)
    # Blocks of 1, 2, 4 and 8, and three of 16.
    assert operations == ["UpdateItem"] * 14


def test_a_block_that_does_not_fit_shrinks_to_what_is_left(books: Books) -> None:
    operations, caps = sent_operations(books.client), Caps(10, MicroDollars(7 * CENT))
    assert books.ledger.lease(3, CENT, caps, NOON).permits == 3
    assert books.ledger.lease(100, CENT, caps, NOON).permits == 4
    assert len(operations) == 3
    with pytest.raises(FencepostError, match="daily_spend_exhausted"):
        books.ledger.lease(1, CENT, caps, NOON)


def test_calls_are_numbered_within_their_day(books: Books) -> None:
    assert [books.ledger.reserve(CENT, PLENTY, NOON).call_number for _ in range(3)] == [1, 2, 3]
    assert books.ledger.reserve(CENT, PLENTY, NOON + timedelta(days=1)).call_number == 1


def test_a_reservation_says_what_the_day_has_committed(books: Books) -> None:
    assert [books.ledger.reserve(CENT, PLENTY, NOON).committed for _ in range(2)] == [CENT, 2 * CENT]


def test_a_call_that_ends_after_midnight_is_paid_by_the_day_that_reserved_it(books: Books) -> None:
    before = books.ledger.reserve(CENT, PLENTY, datetime(2026, 3, 1, 23, 59, 59, 999_999, UTC))
    after = books.ledger.reserve(CENT, PLENTY, datetime(2026, 3, 2, tzinfo=UTC))
    books.ledger.settle(before, MicroDollars(70))
    books.ledger.settle(after, MicroDollars(80))
    assert books.bill(date(2026, 3, 1)) == DayBill(1, MicroDollars(70), MicroDollars(70))
    assert books.bill(date(2026, 3, 2)) == DayBill(1, MicroDollars(80), MicroDollars(80))


def test_settling_again_with_another_amount_changes_nothing(books: Books) -> None:
    reservation = books.ledger.reserve(CENT, PLENTY, NOON)
    for actual in (70, 5, 9_000):
        books.ledger.settle(reservation, MicroDollars(actual))
    assert books.bill(TODAY) == DayBill(1, MicroDollars(70), MicroDollars(70))


def test_a_cost_above_the_reservation_counts_in_full(books: Books) -> None:
    books.ledger.settle(books.ledger.reserve(CENT, Caps(5, CENT), NOON), MicroDollars(3 * CENT))
    assert books.bill(TODAY) == DayBill(1, MicroDollars(3 * CENT), MicroDollars(3 * CENT))


def test_a_lowered_cap_binds_at_once(books: Books) -> None:
    for _ in range(3):
        books.ledger.reserve(CENT, PLENTY, NOON)
    with pytest.raises(FencepostError, match="daily_calls_exhausted"):
        books.ledger.reserve(CENT, Caps(3, PLENTY.spend), NOON)
    with pytest.raises(FencepostError, match="daily_spend_exhausted"):
        books.ledger.reserve(CENT, Caps(PLENTY.calls, MicroDollars(3 * CENT)), NOON)


def test_a_day_is_kept_for_four_hundred_days(books: Books) -> None:
    books.ledger.reserve(CENT, PLENTY, NOON)
    expiry = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(days=400)
    assert books.item(TODAY)["expires_at"] == {"N": str(int(expiry.timestamp()))}
