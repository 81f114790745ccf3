"""The daily caps on DynamoDB when answers get lost and processes die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.ledger import BlockSettlement, DayBill, Reservation
from fencepost.limits.dynamodb.ledger import DynamoDbLedger
from local.emulator import Emulator
from tests.integration.tables import Books, connect, create_table, lose_answers, open_books
from tests.worlds.ledger_machine import LedgerMachine, Store

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TODAY = NOON.date()
CENT = MicroDollars(10_000)
PLENTY = Caps(1_000_000, MicroDollars(10**12))

RESERVE_THREE_AND_HANG = """
import sys, time
from datetime import datetime
from fencepost.limits.dynamodb.ledger import DynamoDbLedger
from fencepost.limits.domain.ledger import Caps
from fencepost.limits.domain.prices import MicroDollars
from fencepost.limits.service.block_leasing import BlockLeasingLedger
from tests.integration.tables import connect

endpoint, table, now, block = sys.argv[1:]
store = DynamoDbLedger(table, lambda: connect(endpoint))
ledger = BlockLeasingLedger(store, int(block)) if int(block) > 1 else store
for _ in range(3):
    ledger.reserve(MicroDollars(10_000), Caps(10, MicroDollars(100_000)), datetime.fromisoformat(now))
print("reserved", flush=True)
time.sleep(600)
"""


@pytest.fixture
def books(emulator: Emulator) -> Books:
    return open_books(emulator.endpoint_url)


def test_a_reservation_whose_answer_was_lost_is_granted_once(books: Books) -> None:
    books.ledger.reserve(CENT, PLENTY, NOON)
    lose_answers(books.client, 1)
    assert books.ledger.reserve(CENT, Caps(2, MicroDollars(2 * CENT)), NOON).call_number == 2
    assert books.bill(TODAY) == DayBill(2, MicroDollars(2 * CENT))


def test_a_settlement_whose_answer_was_lost_counts_once(books: Books) -> None:
    reservation = books.ledger.reserve(CENT, PLENTY, NOON)
    lose_answers(books.client, 1)
    books.ledger.settle(reservation, MicroDollars(70))
    assert books.bill(TODAY) == DayBill(1, MicroDollars(70), MicroDollars(70))


def test_a_lease_whose_answers_were_lost_is_taken_and_closed_once(books: Books) -> None:
    lose_answers(books.client, 1)
    lease = books.ledger.lease(4, CENT, PLENTY, NOON)
    lose_answers(books.client, 1)
    books.ledger.close(lease, BlockSettlement(3, 4 * CENT - 70, MicroDollars(70)))
    assert books.bill(TODAY) == DayBill(1, MicroDollars(70), MicroDollars(70))


def test_calls_that_outlive_their_lease_are_settled_by_themselves(books: Books) -> None:
    lease = books.ledger.lease(2, CENT, PLENTY, NOON)
    call = Reservation(f"{lease.id}.0", lease.day, CENT, lease.first_call)
    books.ledger.close(lease, BlockSettlement(1, CENT, MicroDollars(0), (call,)))
    assert books.bill(TODAY) == DayBill(1, CENT)
    books.ledger.settle(call, MicroDollars(70))
    assert books.bill(TODAY) == DayBill(1, MicroDollars(70), MicroDollars(70))


def test_a_store_that_never_answers_fails_closed_and_counts_what_it_wrote(books: Books) -> None:
    lose_answers(books.client, 2)
    with pytest.raises(FencepostError) as failed:
        books.ledger.reserve(CENT, PLENTY, NOON)
    assert failed.value.code is ErrorCode.LEDGER_UNAVAILABLE
    assert books.bill(TODAY) == DayBill(1, CENT)


def test_a_missing_table_fails_closed_without_naming_it(books: Books) -> None:
    with pytest.raises(FencepostError) as failed:
        DynamoDbLedger("no-such-table", lambda: books.client).reserve(CENT, PLENTY, NOON)
    assert failed.value.code is ErrorCode.LEDGER_UNAVAILABLE
    assert failed.value.__suppress_context__
    assert "no-such-table" not in repr(failed.value)


# Leased, the three calls are a block of 1 and one of 2.
@pytest.mark.parametrize("block", [1, 2], ids=["plain", "leased"])
def test_a_process_killed_before_it_settles_leaves_its_reservations_counted(
    emulator: Emulator, books: Books, block: int
) -> None:
    arguments = [emulator.endpoint_url, books.table, NOON.isoformat(), str(block)]
    with subprocess.Popen(
        [sys.executable, "-c", RESERVE_THREE_AND_HANG, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=Path(__file__).parents[2],
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reserved\n"
        process.send_signal(signal.SIGKILL)
    assert books.bill(TODAY) == DayBill(3, MicroDollars(3 * CENT))
    assert books.ledger.lease(100, CENT, Caps(10, MicroDollars(10 * CENT)), NOON).permits == 7


@pytest.mark.parametrize("permits", [1, 6], ids=["plain", "leased"])
def test_the_rules_hold_in_any_order_of_events(emulator: Emulator, permits: int) -> None:
    client = connect(emulator.endpoint_url)

    class OnDynamoDb(LedgerMachine):
        block = permits

        def new_store(self) -> Store:
            books = Books(client, create_table(client))
            return Store(books.ledger, books.bill)

    run_state_machine_as_test(OnDynamoDb, settings=settings(max_examples=15, stateful_step_count=25, deadline=None))
