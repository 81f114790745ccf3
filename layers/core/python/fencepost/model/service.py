"""Paid calls of the model: `PaidModel` reserves the worst case, makes one call, and settles.

`Billing` takes permits from the ledger and settles them, `PaidModel` makes a call on a permit, and `paid` returns a
function for background calls on the same daily bill.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from math import inf
from types import MappingProxyType
from typing import Literal

from fencepost.identity.domain.sites import Site
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Caps, MicroDollars, Usage
from fencepost.kernel.ports import Clock, Keys
from fencepost.limits.domain.ledger import Reservation, require_payable
from fencepost.limits.domain.prices import Price, cost, worst_case
from fencepost.limits.ports import Ledger
from fencepost.model.domain import ModelError, Prompt
from fencepost.model.ports import Model
from fencepost.observability.domain.events import AdmissionEvent, LedgerEvent
from fencepost.observability.ports import Events
from fencepost.observability.service import Trace

TURN_SECONDS = 25.0
"""Time from a request's arrival to the end of the model's call. The gateway waits 29 s, and settling takes time too."""
LEAST_MODEL_SECONDS = 2.0
"""With less time left, the model is not called."""

type Cap = Literal["calls", "spend"]
type SettleResult = Literal["settled", "kept", "overrun", "settle_failed"]

_CAPS: Mapping[ErrorCode, Cap] = MappingProxyType(
    {
        ErrorCode.DAILY_CALLS_EXHAUSTED: "calls",
        ErrorCode.DAILY_SPEND_EXHAUSTED: "spend",
        ErrorCode.MISCONFIGURED: "spend",
    }
)
"""The cap that an error code is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Billing:
    """Takes permits from the ledger, settles them, and reports both as events."""

    ledger: Ledger
    price: Price
    caps: Caps
    events: Events
    clock: Clock

    def reserve(self, prompt: Prompt, trace: Trace) -> Reservation:
        """Reserve the worst case of a call.

        Raises:
            FencepostError: from the ledger, which fails closed; or `misconfigured` if one call may cost more than the
                cap of a whole day. An event is emitted.
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
        """Replace a reservation by the cost of `usage`. If the usage is unknown, the worst case is spent.

        If the ledger does not answer, an event is emitted and nothing is raised; the reservation stays counted as
        spent.
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


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's answer, and the reservation of its call."""

    text: str
    usage: Usage | None
    reservation: Reservation


@dataclass(frozen=True, slots=True)
class PaidModel:
    """A model whose calls are paid from a ledger.

    Attributes:
        name: name of the model in the price table.
        model: makes the calls.
        billing: reserves and settles them.
    """

    name: str
    model: Model
    billing: Billing

    def ask(self, prompt: Prompt, trace: Trace, *, within: float = inf) -> Reply:
        """Reserve the worst case and make one call.

        A failed call is settled here. The caller settles a reply (`settle`).

        Args:
            prompt: the prompt.
            trace: the request's trace.
            within: seconds for the call, if less than the request has left.

        Raises:
            FencepostError: from the ledger, or a `ModelError` from the model; `provider_timeout`, without a permit, if
                no time is left for the call.
        """
        if _seconds_left(trace) < LEAST_MODEL_SECONDS:
            raise FencepostError(ErrorCode.PROVIDER_TIMEOUT)
        reservation = self.billing.reserve(prompt, trace)
        reply, usage = None, None
        try:
            with trace.stage("provider"):
                completion = self.model.complete(prompt, within=min(within, _seconds_left(trace)))
            trace.stages["first_token"] = completion.first_token_seconds * 1_000
            reply = Reply(completion.text, completion.usage, reservation)
        except ModelError as error:
            usage = error.usage
            raise
        finally:
            if reply is None:
                self.billing.settle(reservation, usage, trace)
        return reply

    def settle(self, reply: Reply, trace: Trace) -> None:
        """Replace the reservation of a reply by its cost."""
        self.billing.settle(reply.reservation, reply.usage, trace)

    def cost(self, reply: Reply) -> MicroDollars:
        """Return the cost of a reply; its worst case if the provider did not report the usage."""
        return reply.reservation.amount if reply.usage is None else cost(self.billing.price, reply.usage)


def require_provider_key(keys: Keys) -> None:
    """Read the provider's key, so that a call without a key fails before a permit is taken.

    Raises:
        FencepostError: `misconfigured` if there is no key.
    """
    keys.provider_key()


type Ask = Callable[[Site, Prompt], str]
"""Calls a site's model once and returns its text; raises `FencepostError` if it cannot. Made by `paid`."""


def paid(model_of: Callable[[Site], PaidModel], keys: Keys) -> Ask:
    """Return a function that calls a site's model, paid from the same bill, under the same caps, as answers."""

    def ask(site: Site, prompt: Prompt) -> str:
        require_provider_key(keys)
        model, trace = model_of(site), Trace()
        reply = model.ask(prompt, trace)
        model.settle(reply, trace)
        return reply.text

    return ask


def _seconds_left(trace: Trace) -> float:
    return TURN_SECONDS - trace.seconds()
