"""The rules of the daily caps as a state machine, for any store and with or without block leasing.

Several instances share one store. They reserve and settle in any order, crash, live through midnight and through caps
that are raised and lowered, and lose answers of the store. After each step the bill is checked against a model that
knows only what was granted and settled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.ledger import DayBill, Reservation, utc_day
from fencepost.limits.ports import BlockLedger, Ledger
from fencepost.limits.service.block_leasing import LEASE_LIFETIME, BlockLeasingLedger
from tests.fakes.answers import Fault

INSTANCES = 3
REFUSALS = {ErrorCode.DAILY_CALLS_EXHAUSTED, ErrorCode.DAILY_SPEND_EXHAUSTED}

amounts = st.integers(0, 40).map(MicroDollars)
caps_of_a_day = st.builds(Caps, st.integers(0, 40), st.integers(0, 900).map(MicroDollars))


@dataclass(frozen=True)
class Store:
    """A store under test: the adapter, how to read a day's bill, and how to make its next call fail (if it can)."""

    ledger: BlockLedger
    bill: Callable[[date], DayBill]
    break_next: Callable[[Fault], None] | None = None


@dataclass
class Call:
    """One granted call, as the model knows it. `actual` is None until it was settled."""

    instance: int
    reservation: Reservation
    actual: int | None = None

    @property
    def owed(self) -> int:
        return self.reservation.amount if self.actual is None else self.actual

    @property
    def overrun(self) -> int:
        return max(0, self.owed - self.reservation.amount)


class LedgerMachine(RuleBasedStateMachine):
    """Subclasses say which store, and whether permits are leased."""

    block = 1

    def new_store(self) -> Store:
        raise NotImplementedError

    def __init__(self) -> None:
        super().__init__()
        self.now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
        self.caps = Caps(0, MicroDollars(0))
        self.caps_since: list[tuple[datetime, Caps]] = []
        self.calls: list[Call] = []
        self.exact = True
        self.store = self.new_store()
        self.instances = [self.new_instance() for _ in range(INSTANCES)]

    def new_instance(self) -> Ledger:
        return self.store.ledger if self.block == 1 else BlockLeasingLedger(self.store.ledger, self.block)

    @initialize(caps=caps_of_a_day)
    def start(self, caps: Caps) -> None:
        self.change_caps(caps)

    @rule(caps=caps_of_a_day)
    def change_caps(self, caps: Caps) -> None:
        self.caps = caps
        self.caps_since.append((self.now, caps))

    @rule(instance=st.integers(0, INSTANCES - 1), amount=amounts, times=st.integers(1, 5))
    def reserve(self, instance: int, amount: MicroDollars, times: int) -> None:
        for _ in range(times):
            self.reserve_once(instance, amount)

    def reserve_once(self, instance: int, amount: MicroDollars) -> None:
        before = self.store.bill(utc_day(self.now))
        try:
            reservation = self.instances[instance].reserve(amount, self.caps, self.now)
        except FencepostError as error:
            self.check_refusal(error, before, amount)
            return
        assert reservation.amount == amount
        assert reservation.day == utc_day(self.now)
        self.calls.append(Call(instance, reservation))
        self.check_grant()

    @precondition(lambda self: self.open_calls())
    @rule(data=st.data(), actual=amounts)
    def settle(self, data: st.DataObject, actual: MicroDollars) -> None:
        call = data.draw(st.sampled_from(self.open_calls()))
        try:
            self.instances[call.instance].settle(call.reservation, actual)
        except FencepostError:
            assert not self.exact
            # Whether it was written is unknown. It must count as no less than the smaller of the two.
            actual = min(call.reservation.amount, actual)
        call.actual = actual

    @precondition(lambda self: self.exact and self.settled_calls())
    @rule(data=st.data(), actual=amounts)
    def settle_again(self, data: st.DataObject, actual: MicroDollars) -> None:
        call = data.draw(st.sampled_from(self.settled_calls()))
        before = self.store.bill(call.reservation.day)
        self.instances[call.instance].settle(call.reservation, actual)
        assert self.store.bill(call.reservation.day) == before

    @rule(instance=st.integers(0, INSTANCES - 1))
    def crash(self, instance: int) -> None:
        self.instances[instance] = self.new_instance()
        for call in self.calls:
            if call.instance == instance:
                call.instance = -1
        self.exact = self.exact and self.block == 1

    @rule(seconds=st.sampled_from((0.5, 2, 4, 11)))
    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def wait_until_just_before_midnight(self) -> None:
        self.now = utc_midnight(self.now) - timedelta(seconds=1)

    @precondition(lambda self: self.store.break_next is not None)
    @rule(fault=st.sampled_from(("before", "after")))
    def store_fails(self, fault: Fault) -> None:
        assert self.store.break_next is not None
        self.store.break_next(fault)
        self.exact = False

    @invariant()
    def nothing_is_lost(self) -> None:
        for day, calls in self.by_day().items():
            bill = self.store.bill(day)
            assert bill.calls >= len(calls)
            assert bill.committed >= sum(call.owed for call in calls)
            assert bill.spent <= bill.committed
            if self.exact and self.block == 1:
                self.check_exact(bill, calls)

    def teardown(self) -> None:
        if not self.exact:
            return
        for instance in self.instances:
            if isinstance(instance, BlockLeasingLedger):
                instance.close()
        for day, calls in self.by_day().items():
            self.check_exact(self.store.bill(day), calls)

    def check_exact(self, bill: DayBill, calls: list[Call]) -> None:
        assert bill.calls == len(calls)
        assert bill.committed == sum(call.owed for call in calls)
        assert bill.spent == sum(call.actual or 0 for call in calls)

    def check_grant(self) -> None:
        """A grant stays under the caps in force: its own, or those a lease may still have served under."""
        bill, calls = self.store.bill(utc_day(self.now)), self.by_day()[utc_day(self.now)]
        if self.block == 1:
            assert bill.calls <= self.caps.calls
            assert bill.committed <= self.caps.spend
        recent = [self.caps] if self.block == 1 else self.caps_within(LEASE_LIFETIME)
        assert len(calls) <= max(caps.calls for caps in recent)
        overruns = sum(call.overrun for call in calls)
        assert sum(call.owed for call in calls) <= max(caps.spend for caps in recent) + overruns

    def check_refusal(self, error: FencepostError, before: DayBill, amount: int) -> None:
        """A refusal is right: the store did not have what was asked, once the instance gave back what it held."""
        if error.code not in REFUSALS:
            assert error.code is ErrorCode.LEDGER_UNAVAILABLE
            assert not self.exact
            return
        bill = self.store.bill(utc_day(self.now))
        assert bill.calls >= self.caps.calls or bill.committed + amount > self.caps.spend
        assert error.retry_after == (utc_midnight(self.now) - self.now) // timedelta(seconds=1) + bool(
            self.now.microsecond
        )
        if self.block == 1:
            assert bill == before

    def caps_within(self, period: timedelta) -> list[Caps]:
        newer = [caps for since, caps in self.caps_since if since > self.now - period]
        older = [caps for since, caps in self.caps_since if since <= self.now - period]
        return newer + older[-1:]

    def by_day(self) -> dict[date, list[Call]]:
        days = Counter(call.reservation.day for call in self.calls)
        return {day: [call for call in self.calls if call.reservation.day == day] for day in days}

    def open_calls(self) -> list[Call]:
        return [call for call in self.calls if call.actual is None and call.instance >= 0]

    def settled_calls(self) -> list[Call]:
        return [call for call in self.calls if call.actual is not None and call.instance >= 0]


def utc_midnight(now: datetime) -> datetime:
    return datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), UTC)
