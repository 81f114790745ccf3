"""Ledger for background calls that always leaves room for one worst-case answer."""

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
    """A ledger over another one, which refuses a permit unless another call still fits after it.

    A permit that leaves no room is returned at once. Until then it counts, so near a cap a call may be refused that
    would have fitted; calls that do not fit are never admitted.

    Attributes:
        ledger: the ledger that permits are taken from.
        spared: the worst case of the call that must still fit.
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
