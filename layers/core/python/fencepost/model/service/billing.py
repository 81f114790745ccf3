"""The day's bill around one model call: set aside the worst case, and settle for what it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Literal

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Caps, MicroDollars, Usage
from fencepost.kernel.ports import Clock
from fencepost.limits.domain.costs import cost, worst_case
from fencepost.limits.domain.ledger import Reservation, require_payable
from fencepost.limits.domain.prices import Price
from fencepost.limits.ports import Ledger
from fencepost.model.domain.prompt import Prompt
from fencepost.observability.domain.events import AdmissionEvent, LedgerEvent
from fencepost.observability.ports import Events
from fencepost.observability.service.trace import Trace

type Cap = Literal["calls", "spend"]
type SettleResult = Literal["settled", "kept", "overrun", "settle_failed"]

_CAPS: Mapping[ErrorCode, Cap] = MappingProxyType(
    {
        ErrorCode.DAILY_CALLS_EXHAUSTED: "calls",
        ErrorCode.DAILY_SPEND_EXHAUSTED: "spend",
        ErrorCode.MISCONFIGURED: "spend",
    }
)
"""The cap that each of the codes is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Billing:
    """Takes permits from the ledger and reports each decision."""

    ledger: Ledger
    price: Price
    caps: Caps
    events: Events
    clock: Clock

    def reserve(self, prompt: Prompt, trace: Trace) -> Reservation:
        """Take the permit for one call.

        Raises:
            FencepostError: the ledger's, which fails closed; or `misconfigured` where one call may cost more than the
                cap of a whole day, and waiting for the next day would be in vain. An event says so.
        """
        now = self.clock()
        amount = worst_case(self.price, prompt.input_tokens, prompt.max_output_tokens)
        try:
            require_payable(amount, self.caps)
            with trace.stage("reserve"):
                reservation = self.ledger.reserve(amount, self.caps, now)
        except FencepostError as error:
            cap = _CAPS.get(error.code)
            self.events.emit(self._decision("denied" if cap else "failed_closed", now.date(), cap=cap))
            raise
        self.events.emit(self._decision("admitted", reservation.day, reservation=reservation))
        return reservation

    def settle(self, reservation: Reservation, usage: Usage | None, trace: Trace) -> None:
        """Turn the reservation into the cost of `usage`. A call of unknown usage is spent at its worst case.

        A ledger that does not answer is an event and no error: the reservation stays counted as spent.
        """
        spent = reservation.amount if usage is None else cost(self.price, usage)
        trace.bill(usage or Usage(), spent)
        with trace.stage("settle"):
            result = self._settle(reservation, spent)
        if result == "settled" and usage is None:
            result = "kept"
        self._report(result, reservation, None if usage is None else spent)

    def _settle(self, reservation: Reservation, actual: MicroDollars) -> SettleResult:
        try:
            self.ledger.settle(reservation, actual)
        except FencepostError:
            return "settle_failed"
        return "overrun" if actual > reservation.amount else "settled"

    def _decision(
        self,
        decision: Literal["admitted", "denied", "failed_closed"],
        day: date,
        *,
        cap: Cap | None = None,
        reservation: Reservation | None = None,
    ) -> AdmissionEvent:
        return AdmissionEvent(
            decision=decision,
            cap=cap,
            utc_day=day,
            call_limit=self.caps.calls,
            spend_limit_microdollars=self.caps.spend,
            count=reservation and reservation.call_number,
            committed_microdollars=reservation and reservation.committed,
        )

    def _report(self, result: SettleResult, reservation: Reservation, actual: MicroDollars | None) -> None:
        event = LedgerEvent(
            result=result,
            utc_day=reservation.day,
            reserved_microdollars=reservation.amount,
            actual_microdollars=actual,
        )
        self.events.emit(event)
