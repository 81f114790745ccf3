"""Fakes of our ports: plain memory with the same rules as the adapters."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import count
from threading import Lock
from typing import Literal

from fencepost.kernel.aws.secrets import hkdf_sha256
from fencepost.kernel.clock import seconds_to_midnight, seconds_to_next_minute
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.ledger import (
    BlockLease,
    BlockSettlement,
    DayBill,
    Reservation,
    exhausted,
    fitting,
    utc_day,
)
from fencepost.limits.domain.requests import RateLimits

type Fault = Literal["before", "after"]
"""The store fails before it wrote, or after it wrote: then only the answer is lost."""


class FixedClock:
    """A clock that moves when told to."""

    def __init__(self, now: datetime = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class FakeKeys:
    """Keys of a fixed secret."""

    def __init__(self, provider_key: str = "test-provider-key", edge_secret: str | None = None) -> None:
        self._provider_key = provider_key
        self._edge_secret = edge_secret
        self.refreshed = 0
        self.signing_secrets = [b"a signing secret"]
        self.ring_reads: list[bool] = []

    def rotate(self, secret: bytes) -> None:
        """Put a new signing secret before the current one; the one before that is forgotten."""
        self.signing_secrets = [secret, *self.signing_secrets[:1]]

    def derive(self, purpose: str) -> bytes:
        return self._derived(self.signing_secrets[0], purpose)

    def ring(self, purpose: str, *, refresh: bool = False) -> tuple[bytes, ...]:
        self.ring_reads.append(refresh)
        return tuple(self._derived(secret, purpose) for secret in self.signing_secrets)

    def _derived(self, secret: bytes, purpose: str) -> bytes:
        return hkdf_sha256(secret, salt=b"fencepost", info=purpose.encode())

    def provider_key(self) -> str:
        return self._provider_key

    def refresh_provider_key(self) -> None:
        self.refreshed += 1

    def edge_secret(self) -> str | None:
        return self._edge_secret


class FakeLimiter:
    """Counts in memory. `available = False` makes it fail closed."""

    def __init__(self) -> None:
        self.available = True
        self.admitted: list[str] = []
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lock = Lock()

    def admit(self, address: str, limits: RateLimits, now: datetime) -> None:
        if not self.available:
            raise FencepostError(ErrorCode.RATE_LIMIT_UNAVAILABLE)
        counted = f"{limits.counter}#{address}"
        day, minute = (counted, f"{now:%F}"), (counted, f"{now:%F %H:%M}")
        with self._lock:
            if self._counts[day] >= limits.per_day:
                raise FencepostError(ErrorCode.RATE_LIMITED_DAY, retry_after=seconds_to_midnight(now))
            if self._counts[minute] >= limits.per_minute:
                raise FencepostError(ErrorCode.RATE_LIMITED_MINUTE, retry_after=seconds_to_next_minute(now))
            self._counts.update((day, minute))
            self.admitted.append(address)


class FakeLedger:
    """Implements `BlockLedger` as the store does: one atomic conditional write per method.

    Attributes:
        faults: what goes wrong with the next calls, in order.
        writes: how many calls reached the store.
    """

    def __init__(self) -> None:
        self.faults: deque[Fault | None] = deque()
        self.writes = 0
        self._bills: dict[date, DayBill] = {}
        self._marks: set[tuple[date, str]] = set()
        self._ids = count(1)
        self._lock = Lock()

    def bill(self, day: date) -> DayBill:
        return self._bills.get(day, DayBill())

    def open_marks(self, day: date) -> set[str]:
        """Return the ids of what was taken and neither settled nor closed."""
        return {lease_id for marked, lease_id in self._marks if marked == day}

    def reserve(self, amount: MicroDollars, caps: Caps, now: datetime) -> Reservation:
        lease = self.lease(1, amount, caps, now)
        return Reservation(lease.id, lease.day, lease.money, lease.first_call, lease.committed)

    def settle(self, reservation: Reservation, actual: MicroDollars) -> None:
        with self._lock, self._write():
            self._close(reservation.day, reservation.id, BlockSettlement(0, reservation.amount - actual, actual))

    def cancel(self, reservation: Reservation) -> None:
        with self._lock, self._write():
            self._close(reservation.day, reservation.id, BlockSettlement(1, reservation.amount, MicroDollars(0)))

    def lease(self, permits: int, amount: MicroDollars, caps: Caps, now: datetime) -> BlockLease:
        with self._lock, self._write():
            day, bill = utc_day(now), self.bill(utc_day(now))
            size = min(permits, fitting(bill, amount, caps))
            if not size:
                raise exhausted(bill, caps, now)
            money, lease_id = MicroDollars(size * amount), f"lease-{next(self._ids)}"
            committed = MicroDollars(bill.committed + money)
            self._marks.add((day, lease_id))
            self._bills[day] = replace(bill, calls=bill.calls + size, committed=committed)
            return BlockLease(lease_id, day, size, money, bill.calls + 1, committed)

    def close(self, lease: BlockLease, closing: BlockSettlement) -> None:
        with self._lock, self._write():
            self._close(lease.day, lease.id, closing)

    def _close(self, day: date, lease_id: str, closing: BlockSettlement) -> None:
        if (day, lease_id) not in self._marks:
            return
        self._marks.remove((day, lease_id))
        self._marks.update((day, call.id) for call in closing.open)
        bill = self._bills[day]
        self._bills[day] = DayBill(
            bill.calls - closing.unused_permits,
            MicroDollars(bill.committed - closing.unused_money),
            MicroDollars(bill.spent + closing.spent),
        )

    def _write(self) -> _Write:
        return _Write(self)


class _Write:
    """One write to the fake store, with the fault that is due."""

    def __init__(self, ledger: FakeLedger) -> None:
        self._ledger = ledger
        self._fault: Fault | None = None

    def __enter__(self) -> None:
        self._fault = self._ledger.faults.popleft() if self._ledger.faults else None
        if self._fault == "before":
            raise FencepostError(ErrorCode.LEDGER_UNAVAILABLE)
        self._ledger.writes += 1

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._fault == "after" and kind is None:
            raise FencepostError(ErrorCode.LEDGER_UNAVAILABLE)
