"""Block leasing: a ledger that takes permits from the store in blocks, and settles them in memory.

The day's item takes about 1,000 writes a second, and a turn makes two. A lease makes two for a whole block
(docs/adr/0005). A lease counts as committed until it is closed, so the caps hold even if the instance crashes: its
block then stays counted as spent.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from threading import Lock
from typing import override

from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.ledger import BlockLease, BlockSettlement, Reservation, utc_day
from fencepost.limits.ports import BlockLedger, Ledger

LEASE_LIFETIME = timedelta(seconds=10)
"""How long a lease is used. A cap that another process lowered takes effect here within this time; one passed to
`reserve`, at once."""

MAX_BLOCK = 100
"""Most permits of one lease. Closing a lease names each call in progress, and an update expression of DynamoDB has at
most 4 KB and 300 operators (docs.aws.amazon.com, "Quotas in Amazon DynamoDB")."""


class BlockLeasingLedger(Ledger):
    """A ledger over a `BlockLedger`. Safe to share between threads.

    A lease is used until its permits, its lifetime or its day end, the caps change, or a call needs more money than is
    left. A block is at most twice the size that the previous lease used, so a rarely used instance leases one permit at
    a time, and strands none while it is frozen.

    Args:
        store: the ledger that leases blocks.
        block: most permits of one lease, up to `MAX_BLOCK`.
        lifetime: how long a lease is used.
    """

    def __init__(self, store: BlockLedger, block: int, lifetime: timedelta = LEASE_LIFETIME) -> None:
        self._store = store
        self._block = min(block, MAX_BLOCK)
        self._lifetime = lifetime
        self._lock = Lock()
        self._latest: _Running | None = None
        self._running: list[_Running] = []
        self._unclosed: list[tuple[BlockLease, BlockSettlement]] = []

    @override
    def reserve(self, amount: MicroDollars, caps: Caps, now: datetime) -> Reservation:
        """Take a permit of the current lease, or of a new one. Call numbers may skip, because unused permits return."""
        with self._lock:
            serving = (lease for lease in self._running if lease.serves(amount, caps, now))
            return (next(serving, None) or self._renew(amount, caps, now)).take(amount)

    @override
    def settle(self, reservation: Reservation, actual: MicroDollars) -> None:
        """Settle in memory, or in the store if the reservation's lease is closed."""
        if actual < 0:
            raise ValueError("negative cost")
        with self._lock:
            running = next((lease for lease in self._running if lease.settle(reservation, actual)), None)
            if running is None:
                self._end([])
                self._store.settle(reservation, actual)
            elif running.must_close:
                self._end([running])

    @override
    def cancel(self, reservation: Reservation) -> None:
        """Cancel in memory, or in the store if the reservation's lease is closed."""
        with self._lock:
            running = next((lease for lease in self._running if lease.cancel(reservation)), None)
            if running is None:
                self._end([])
                self._store.cancel(reservation)
            elif running.must_close:
                self._end([running])

    def close(self) -> None:
        """Close all leases, for example before the process ends.

        Raises:
            FencepostError: `ledger_unavailable`; the next call of any method tries again.
        """
        with self._lock:
            self._end(list(self._running))

    def _renew(self, amount: MicroDollars, caps: Caps, now: datetime) -> _Running:
        # A used-up lease stays until its calls are settled, and then is closed with one write for all of them.
        self._end([lease for lease in self._running if lease.has_permits or lease.is_over(now)])
        permits = min(self._block, self._latest.next_block(now)) if self._latest else 1
        lease = self._store.lease(permits, amount, caps, now)
        self._latest = _Running(lease, caps, now, self._lifetime)
        self._running.append(self._latest)
        return self._latest

    def _end(self, leases: list[_Running]) -> None:
        for ended in leases:
            self._running.remove(ended)
            self._unclosed.append((ended.lease, ended.closing()))
        # Kept until the store has closed them: after a failure, the next call tries again.
        while self._unclosed:
            self._store.close(*self._unclosed[0])
            del self._unclosed[0]


class _Running:
    """A lease in use."""

    def __init__(self, lease: BlockLease, caps: Caps, taken: datetime, lifetime: timedelta) -> None:
        self.lease = lease
        self._caps = caps
        self._expires = taken + lifetime
        self._stale = self._expires + lifetime
        self._permits = lease.permits
        self._money: int = lease.money
        self._returned = 0
        self._spent = 0
        self._open: dict[str, Reservation] = {}

    @property
    def has_permits(self) -> bool:
        return self._permits > 0

    @property
    def must_close(self) -> bool:
        # Calls that cost more than was reserved exceed what the store has counted: it must be told at once.
        return self._money < 0 or not (self._permits or self._open)

    def is_over(self, now: datetime) -> bool:
        return now >= self._expires or utc_day(now) != self.lease.day

    def serves(self, amount: MicroDollars, caps: Caps, now: datetime) -> bool:
        return self.has_permits and self._money >= amount and caps == self._caps and not self.is_over(now)

    def take(self, amount: MicroDollars) -> Reservation:
        index = self.lease.permits - self._permits
        call_id, number = f"{self.lease.id}.{index}", self.lease.first_call + index
        reservation = Reservation(call_id, self.lease.day, amount, number, self.lease.committed)
        self._permits -= 1
        self._money -= amount
        self._open[reservation.id] = reservation
        return reservation

    def settle(self, reservation: Reservation, actual: MicroDollars) -> bool:
        if self._open.pop(reservation.id, None) is None:
            return False
        self._money += reservation.amount - actual
        self._spent += actual
        return True

    def cancel(self, reservation: Reservation) -> bool:
        if self._open.pop(reservation.id, None) is None:
            return False
        self._money += reservation.amount
        self._returned += 1
        return True

    def next_block(self, now: datetime) -> int:
        """Return the most permits of the next lease: twice those used, or fewer if the lease expired before its end."""
        used = self.lease.permits - self._permits
        if now >= self._stale:
            return 1
        return max(1, used if now >= self._expires else 2 * used)

    def closing(self) -> BlockSettlement:
        # Returned permits are not given out again: a call's id and number derive from its place in the lease.
        unused = self._permits + self._returned
        return BlockSettlement(unused, self._money, MicroDollars(self._spent), tuple(self._open.values()))
