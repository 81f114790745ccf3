"""A bill for calls that others may not have to go without for: it never gives the day's last permit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.limits import Caps, Reservation, seconds_to_midnight
from fencepost.domain.money import MicroDollars
from fencepost.ports import Ledger


@dataclass(frozen=True, slots=True)
class SparingLedger:
    """Implements `fencepost.ports.Ledger` over another one.

    A permit after which no other call would fit goes back at once. Until it is back it counts, so near a cap a call may
    be refused that would have fitted; none is ever admitted that does not fit.

    Attributes:
        spared: what the other call may cost.
    """

    ledger: Ledger
    spared: MicroDollars

    def reserve(self, amount: MicroDollars, caps: Caps, now: datetime) -> Reservation:
        """See `fencepost.ports.Ledger`."""
        reservation = self.ledger.reserve(amount, caps, now)
        refused = self._refused(reservation, caps)
        if refused:
            self.ledger.cancel(reservation)
            raise FencepostError(refused, retry_after=seconds_to_midnight(now))
        return reservation

    def settle(self, reservation: Reservation, actual: MicroDollars) -> None:
        """See `fencepost.ports.Ledger`."""
        self.ledger.settle(reservation, actual)

    def cancel(self, reservation: Reservation) -> None:
        """See `fencepost.ports.Ledger`."""
        self.ledger.cancel(reservation)

    def _refused(self, reservation: Reservation, caps: Caps) -> ErrorCode | None:
        if reservation.call_number >= caps.calls:
            return ErrorCode.DAILY_CALLS_EXHAUSTED
        if reservation.committed + self.spared > caps.spend:
            return ErrorCode.DAILY_SPEND_EXHAUSTED
        return None
