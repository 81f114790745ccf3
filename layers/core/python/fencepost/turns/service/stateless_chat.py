"""The stateless chat: at most one model call for each question, and only after its cost was reserved."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.conversations.domain.messages import Answer, Question
from fencepost.documents.ports import SiteDocuments
from fencepost.kernel.ports import Clock, Keys
from fencepost.model.service import PaidModel, require_provider_key
from fencepost.observability.service import Trace
from fencepost.turns.domain.system_prompt import VERSION
from fencepost.turns.service.prompt_builder import PromptBuilder


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatService:
    """Answers questions from the documents. Everything that can fail without cost is done before the reservation."""

    documents: SiteDocuments
    prompt_builder: PromptBuilder
    paid: PaidModel
    keys: Keys
    clock: Clock

    def answer(self, question: Question, trace: Trace) -> Answer:
        """Answer a question.

        Raises:
            FencepostError: of the documents, the prompt or the bill. `provider_timeout` before the reservation, if no
                time is left for the call. `ModelError` from the model.
        """
        require_provider_key(self.keys)
        with trace.stage("documents"):
            documents = self.documents.current(self.clock())
        trace.prompt_version = VERSION
        with trace.stage("assemble"):
            draft = self.prompt_builder.draft(question, documents)
        trace.sources = tuple(source.id for source in draft.prompt.sources)
        reply = self.paid.ask(draft.prompt, trace)
        self.paid.settle(reply, trace)
        answer = draft.answer(reply.text)
        trace.cited = tuple(source.id for source in answer.sources)
        return answer
