"""A bill for calls that others may not have to go without for: it never gives the day's last permit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import override

from fencepost.kernel.clock import seconds_to_midnight
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Caps, MicroDollars
from fencepost.limits.domain.ledger import Reservation
from fencepost.limits.ports import Ledger


@dataclass(frozen=True, slots=True)
class HeadroomLedger(Ledger):
    """Implements `fencepost.limits.ports.Ledger` over another one.

    A permit after which no other call would fit goes back at once. Until it is back it counts, so near a cap a call may
    be refused that would have fitted; none is ever admitted that does not fit.

    Attributes:
        spared: what the other call may cost.
    """

    ledger: Ledger
    spared: MicroDollars

    @override
    def reserve(self, amount: MicroDollars, caps: Caps, now: datetime) -> Reservation:
        reservation = self.ledger.reserve(amount, caps, now)
        refused = self._refused(reservation, caps)
        if refused:
            self.ledger.cancel(reservation)
            raise FencepostError(refused, retry_after=seconds_to_midnight(now))
        return reservation

    @override
    def settle(self, reservation: Reservation, actual: MicroDollars) -> None:
        self.ledger.settle(reservation, actual)

    @override
    def cancel(self, reservation: Reservation) -> None:
        self.ledger.cancel(reservation)

    def _refused(self, reservation: Reservation, caps: Caps) -> ErrorCode | None:
        if reservation.call_number >= caps.calls:
            return ErrorCode.DAILY_CALLS_EXHAUSTED
        if reservation.committed + self.spared > caps.spend:
            return ErrorCode.DAILY_SPEND_EXHAUSTED
        return None
