"""Ports of the daily bill and of the address limits."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.ledger import BlockLease, BlockSettlement, Reservation
from fencepost.limits.domain.requests import RateLimits


class AddressLimiter(Protocol):
    """Counts requests by client address, minute and day, separately for each counter."""

    def admit(self, address: str, limits: RateLimits, now: datetime) -> None:
        """Count a request, or refuse it.

        Args:
            address: canonical form, as `fencepost.limits.domain.requests.canonical` returns it.
            limits: the limits, and the counter.
            now: time of the request.

        Raises:
            FencepostError: `rate_limited_minute` or `rate_limited_day` with `retry_after`; the request is not counted.
                `rate_limit_unavailable` if the store does not answer (fail closed).
        """
        ...


class Ledger(Protocol):
    """The bill of each UTC day. Money spent and reserved never exceeds the cap in force at each reservation."""

    def reserve(self, amount: MicroDollars, caps: Caps, now: datetime) -> Reservation:
        """Take a permit for one call, and reserve its worst case.

        Args:
            amount: the worst case of the call.
            caps: the caps of the day.
            now: time of the call; its UTC day pays.

        Raises:
            FencepostError: `daily_calls_exhausted` or `daily_spend_exhausted` with `retry_after`;
                `ledger_unavailable` if the store does not answer (fail closed).
        """
        ...

    def settle(self, reservation: Reservation, actual: MicroDollars) -> None:
        """Replace a reservation by its actual cost. Settling twice has no effect.

        Raises:
            FencepostError: `ledger_unavailable`; the reservation stays counted as spent.
            ValueError: the cost is negative, which would make room under the cap. The reservation stays counted.
        """
        ...

    def cancel(self, reservation: Reservation) -> None:
        """Return the permit and money of a call that was not made. No effect if cancelled or settled before.

        Raises:
            FencepostError: `ledger_unavailable`; the reservation stays counted as spent.
        """
        ...


class BlockLedger(Ledger, Protocol):
    """A ledger that also leases blocks of permits (docs/adr/0005)."""

    def lease(self, permits: int, amount: MicroDollars, caps: Caps, now: datetime) -> BlockLease:
        """Take as many permits of `amount` each as fit under both caps: at least one, at most `permits`.

        Raises:
            FencepostError: as `reserve`.
        """
        ...

    def close(self, lease: BlockLease, closing: BlockSettlement) -> None:
        """Return the unused permits and money of a lease. Closing twice has no effect.

        Raises:
            FencepostError: `ledger_unavailable`; the lease stays counted as spent.
        """
        ...
