"""Caps on calls and money in one UTC day, and permits for single calls under them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime

from fencepost.kernel.clock import seconds_to_midnight
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Caps, MicroDollars

_NOTHING = MicroDollars(0)


@dataclass(frozen=True, slots=True)
class Reservation:
    """A permit for exactly one provider call, with its worst case already counted against `day`.

    Attributes:
        id: random; makes settling idempotent.
        day: the UTC day that pays, even when the call ends after midnight.
        amount: the worst case in micro-dollars.
        call_number: which call of that day this is, counted from 1.
        committed: what the day has spent and reserved, this reservation included; 0 where the store did not say.
    """

    id: str
    day: date
    amount: MicroDollars
    call_number: int
    committed: MicroDollars = _NOTHING


_NOTHING = MicroDollars(0)


@dataclass(frozen=True, slots=True)
class DayBill:
    """One UTC day as the store counts it.

    Attributes:
        calls: permits taken.
        committed: spent and reserved together; this is what the money cap bounds.
        spent: the settled part of it.
    """

    calls: int = 0
    committed: MicroDollars = _NOTHING
    spent: MicroDollars = _NOTHING


@dataclass(frozen=True, slots=True)
class BlockLease:
    """Permits and money of one day, taken in one write.

    Attributes:
        id: random; makes taking and closing it idempotent.
        day: the UTC day that pays.
        permits: calls that it allows.
        money: what is set aside for all of them.
        first_call: the number of its first call in the day, counted from 1.
        committed: what the day has spent and reserved, this lease included, when the store gave it.
    """

    id: str
    day: date
    permits: int
    money: MicroDollars
    first_call: int
    committed: MicroDollars


@dataclass(frozen=True, slots=True)
class BlockSettlement:
    """What became of a lease.

    Attributes:
        unused_permits: permits that go back.
        unused_money: money that goes back; negative where calls cost more than was set aside.
        spent: actual costs of its settled calls.
        open: calls still under way. Each stays counted, and is settled by itself from then on.

    Raises:
        ValueError: `spent` is negative. No call pays anything back.
    """

    unused_permits: int
    unused_money: int
    spent: MicroDollars
    open: tuple[Reservation, ...] = ()

    def __post_init__(self) -> None:
        if self.spent < 0:
            raise ValueError("negative cost")


def utc_day(now: datetime) -> date:
    """Return the UTC day of an aware time."""
    return now.astimezone(UTC).date()


def fitting(bill: DayBill, amount: MicroDollars, caps: Caps) -> int:
    """Return how many calls of `amount` each still fit under both caps; 0 when none does."""
    calls, money = caps.calls - bill.calls, caps.spend - bill.committed
    if money < amount:
        return 0
    return max(0, min(calls, money // amount) if amount else calls)


def require_payable(amount: MicroDollars, caps: Caps) -> None:
    """Refuse what no day can pay. A cap of nothing is another matter: it is how a chat is switched off.

    Raises:
        FencepostError: `misconfigured`; to wait for the next day would be in vain.
    """
    if amount > caps.spend > 0:
        raise FencepostError(ErrorCode.MISCONFIGURED)


def exhausted(bill: DayBill, caps: Caps, now: datetime) -> FencepostError:
    """Return the error for a call that did not fit: the call cap's where it is reached, else the money cap's."""
    calls_reached = bill.calls >= caps.calls
    code = ErrorCode.DAILY_CALLS_EXHAUSTED if calls_reached else ErrorCode.DAILY_SPEND_EXHAUSTED
    return FencepostError(code, retry_after=seconds_to_midnight(now))
