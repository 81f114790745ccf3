"""The bill of one UTC day: caps on calls and money, and permits for calls under these caps."""

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
        call_number: number of the call in that day, counted from 1.
        committed: money spent and reserved on that day, this reservation included; 0 if the store did not return it.
    """

    id: str
    day: date
    amount: MicroDollars
    call_number: int
    committed: MicroDollars = _NOTHING


@dataclass(frozen=True, slots=True)
class DayBill:
    """Counts of one UTC day, as the store holds them.

    Attributes:
        calls: permits taken.
        committed: money spent and reserved, which the money cap bounds.
        spent: the settled part of `committed`.
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
        permits: number of calls.
        money: reserved for all of these calls.
        first_call: number of the first call in that day, counted from 1.
        committed: money spent and reserved on that day when the lease was taken, this lease included.
    """

    id: str
    day: date
    permits: int
    money: MicroDollars
    first_call: int
    committed: MicroDollars


@dataclass(frozen=True, slots=True)
class BlockSettlement:
    """The outcome of a lease.

    Attributes:
        unused_permits: permits to return.
        unused_money: money to return; negative where calls cost more than was reserved.
        spent: actual costs of the settled calls.
        open: calls in progress. They stay counted, and each is settled on its own afterwards.

    Raises:
        ValueError: `spent` is negative.
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
    """Return how many calls of `amount` each fit under both caps."""
    calls, money = caps.calls - bill.calls, caps.spend - bill.committed
    if money < amount:
        return 0
    return max(0, min(calls, money // amount) if amount else calls)


def require_payable(amount: MicroDollars, caps: Caps) -> None:
    """Refuse an amount above the cap of a whole day. A cap of 0 is accepted here, because it switches a chat off.

    Raises:
        FencepostError: `misconfigured`; waiting for the next day would not help.
    """
    if amount > caps.spend > 0:
        raise FencepostError(ErrorCode.MISCONFIGURED)


def exhausted(bill: DayBill, caps: Caps, now: datetime) -> FencepostError:
    """Return the error for a call that did not fit: of the call cap if it is reached, else of the money cap."""
    calls_reached = bill.calls >= caps.calls
    code = ErrorCode.DAILY_CALLS_EXHAUSTED if calls_reached else ErrorCode.DAILY_SPEND_EXHAUSTED
    return FencepostError(code, retry_after=seconds_to_midnight(now))
