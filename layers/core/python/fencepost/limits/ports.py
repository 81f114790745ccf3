"""Ports of the bill and of the request limits."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.ledger import BlockLease, BlockSettlement, Reservation
from fencepost.limits.domain.requests import RateLimits


class AddressLimiter(Protocol):
    """Counts one request of a client address in its minute and its day, for each counter apart."""

    def admit(self, address: str, limits: RateLimits, now: datetime) -> None:
        """Count the request.

        Args:
            address: the canonical form made by `fencepost.limits.domain.requests.canonical`.

        Raises:
            FencepostError: `rate_limited_minute` or `rate_limited_day` with `retry_after`, and nothing is counted;
                `rate_limit_unavailable` when the store does not answer: fail closed.
        """
        ...


class Ledger(Protocol):
    """The day's bill. For each day, spent + reserved never exceeds the cap in force when it was reserved."""

    def reserve(self, amount: MicroDollars, caps: Caps, now: datetime) -> Reservation:
        """Take one call permit and set aside its worst case.

        Raises:
            FencepostError: `daily_calls_exhausted` or `daily_spend_exhausted` with `retry_after`;
                `ledger_unavailable` when the store does not answer: fail closed.
        """
        ...

    def settle(self, reservation: Reservation, actual: MicroDollars) -> None:
        """Turn the reservation into its actual cost. Settling twice changes nothing.

        Raises:
            FencepostError: `ledger_unavailable`; the reservation then stays counted as spent.
            ValueError: a negative cost, which would make room under the cap. The reservation stays, too.
        """
        ...

    def cancel(self, reservation: Reservation) -> None:
        """Give permit and money back: no call was made. Cancelling twice, or what was settled, changes nothing.

        Raises:
            FencepostError: `ledger_unavailable`; the reservation then stays counted as spent.
        """
        ...


class BlockLedger(Ledger, Protocol):
    """A ledger that also gives out permits by the block (docs/adr/0005)."""

    def lease(self, permits: int, amount: MicroDollars, caps: Caps, now: datetime) -> BlockLease:
        """Take up to so many permits with `amount` each: as many as still fit under both caps, at least one.

        Raises:
            FencepostError: as `reserve` does.
        """
        ...

    def close(self, lease: BlockLease, closing: BlockSettlement) -> None:
        """Give back what a lease did not use. Closing twice changes nothing.

        Raises:
            FencepostError: `ledger_unavailable`; the lease then stays counted as spent.
        """
        ...
