"""One paid call of the model, as both chats make it: never without a permit, and settled whatever comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import MicroDollars, Usage
from fencepost.kernel.ports import Keys
from fencepost.limits.domain.costs import cost
from fencepost.limits.domain.ledger import Reservation
from fencepost.model.domain.errors import ModelError
from fencepost.model.domain.prompt import Prompt
from fencepost.model.ports import Model
from fencepost.model.service.billing import Billing
from fencepost.observability.service.trace import Trace

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
