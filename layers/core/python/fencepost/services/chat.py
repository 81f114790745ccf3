"""Answer a question: at most one call of the model, and never one that the day's bill has not set aside for."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.domain.conversation import Answer, Question
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.limits import Reservation
from fencepost.domain.model_errors import ModelError
from fencepost.domain.money import Usage
from fencepost.domain.prompt import Prompt
from fencepost.ports import Clock, DocumentLibrary, Keys, Model
from fencepost.services.billing import Billing
from fencepost.services.composition import Composer
from fencepost.services.trace import Trace

TURN_SECONDS = 25.0
"""From a request's arrival to the end of the model's call: the gateway waits 29 s, and the bill is settled after it."""
LEAST_MODEL_SECONDS = 2.0
"""With less left, the model is not asked at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatService:
    """The use case of the stateless chat. What can fail for free fails before a permit is taken."""

    documents: DocumentLibrary
    composer: Composer
    billing: Billing
    model: Model
    keys: Keys
    clock: Clock

    def answer(self, question: Question, trace: Trace) -> Answer:
        """Answer from the documents.

        Raises:
            FencepostError: the first thing that stands in the way; from the model it is a `ModelError`, and
                `provider_timeout` before a permit is taken where no time is left for the call.
        """
        # Asked for and dropped: without a key the call would fail after its permit was taken.
        self.keys.provider_key()
        with trace.stage("documents"):
            documents = self.documents.current(self.clock())
        with trace.stage("assemble"):
            draft = self.composer.draft(question, documents)
        trace.sources = tuple(source.id for source in draft.prompt.sources)
        if _seconds_left(trace) < LEAST_MODEL_SECONDS:
            raise FencepostError(ErrorCode.PROVIDER_TIMEOUT)
        reservation = self.billing.reserve(draft.prompt, trace)
        answer = draft.answer(self._complete(draft.prompt, reservation, trace))
        trace.cited = tuple(source.id for source in answer.sources)
        return answer

    def _complete(self, prompt: Prompt, reservation: Reservation, trace: Trace) -> str:
        usage: Usage | None = None
        try:
            with trace.stage("provider"):
                completion = self.model.complete(prompt, within=_seconds_left(trace))
            trace.stages["first_token"] = completion.first_token_seconds * 1_000
            usage = completion.usage
        except ModelError as error:
            usage = error.usage
            raise
        finally:
            self.billing.settle(reservation, usage, trace)
        return completion.text


def _seconds_left(trace: Trace) -> float:
    return TURN_SECONDS - trace.seconds()
