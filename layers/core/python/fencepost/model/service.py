"""One paid call of the model, as both chats make it: never without a permit, and settled whatever comes of it."""

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
"""From a request's arrival to the end of the model's call: the gateway waits 29 s, and the bill is settled after it."""
LEAST_MODEL_SECONDS = 2.0
"""With less left, the model is not asked at all."""


def require_provider_key(keys: Keys) -> None:
    """Read the provider's key before a permit is taken: without a key the call would fail after its permit was taken.

    Raises:
        FencepostError: `misconfigured` when there is none.
    """
    keys.provider_key()


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model wrote, and the permit that it was written on."""

    text: str
    usage: Usage | None
    reservation: Reservation


@dataclass(frozen=True, slots=True)
class PaidModel:
    """A model, and the bill that its calls are on.

    Attributes:
        name: the model's, as the price table names it.
    """

    name: str
    model: Model
    billing: Billing

    def ask(self, prompt: Prompt, trace: Trace, *, within: float = inf) -> Reply:
        """Reserve the worst case and make one call. The caller settles the reply; a call that failed is settled here.

        Args:
            prompt: what is asked.
            trace: of the request.
            within: seconds that the call may take, where that is less than the request has left.

        Raises:
            FencepostError: from the model it is a `ModelError`; `provider_timeout` before a permit is taken where no
                time is left for the call.
        """
        if _seconds_left(trace) < LEAST_MODEL_SECONDS:
            raise FencepostError(ErrorCode.PROVIDER_TIMEOUT)
        reservation = self.billing.reserve(prompt, trace)
        reply, usage = None, None
        try:
            reply = self._complete(prompt, reservation, trace, within)
        except ModelError as error:
            usage = error.usage
            raise
        finally:
            if reply is None:
                self.billing.settle(reservation, usage, trace)
        return reply

    def settle(self, reply: Reply, trace: Trace) -> None:
        """Turn the reservation into what the reply cost."""
        self.billing.settle(reply.reservation, reply.usage, trace)

    def cost(self, reply: Reply) -> MicroDollars:
        """Return what a reply costs: its worst case where the provider did not say what it counted."""
        return reply.reservation.amount if reply.usage is None else cost(self.billing.price, reply.usage)

    def _complete(self, prompt: Prompt, reservation: Reservation, trace: Trace, within: float) -> Reply:
        with trace.stage("provider"):
            completion = self.model.complete(prompt, within=min(within, _seconds_left(trace)))
        trace.stages["first_token"] = completion.first_token_seconds * 1_000
        return Reply(completion.text, completion.usage, reservation)


def _seconds_left(trace: Trace) -> float:
    return TURN_SECONDS - trace.seconds()


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


type Ask = Callable[[Site, Prompt], str]
"""Calls a site's model once and returns what it wrote; raises what stands in the way. `paid` makes one."""


def paid(model_of: Callable[[Site], PaidModel], keys: Keys) -> Ask:
    """Return what asks a site's model on the bill that answers are on, with the same caps."""

    def ask(site: Site, prompt: Prompt) -> str:
        require_provider_key(keys)
        model, trace = model_of(site), Trace()
        reply = model.ask(prompt, trace)
        model.settle(reply, trace)
        return reply.text

    return ask
