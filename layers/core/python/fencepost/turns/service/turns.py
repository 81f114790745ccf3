"""Turns of stored conversations.

`TurnService._run` runs a turn: it claims the lease, loads the prompt's inputs, builds the prompt, reserves its maximum
cost, asks the model and settles. With the request's limits and membership (`fencepost.web.api`) these are five
sequential steps to the stores. docs/adr/0008 describes what a crash between two steps leaves, and who finishes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fencepost.conversations.domain.attachments import AttachedText
from fencepost.conversations.domain.messages import revision_of
from fencepost.conversations.ports import ConversationStore
from fencepost.documents.domain.sections import NO_DOCUMENTS, DocumentSet
from fencepost.documents.ports import SiteDocuments
from fencepost.identity.domain.scope import Action, Caller, Member, Resource, Scope, authorize, own
from fencepost.identity.domain.sites import Site
from fencepost.identity.ports import Directory
from fencepost.identity.service import SiteService
from fencepost.kernel.concurrency import run_concurrently
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock, Keys
from fencepost.model.service import PaidModel, Reply, require_provider_key
from fencepost.observability.service import Trace
from fencepost.retrieval.domain.search import NOTHING_RECALLED
from fencepost.turns.domain.prompt_inputs import said_before
from fencepost.turns.domain.settlements import TurnOutcome, place_of, settlement
from fencepost.turns.domain.system_prompt import VERSION
from fencepost.turns.domain.turns import (
    RunningTurn,
    SettleRefused,
    TurnAnswer,
    TurnMaterial,
    TurnRequest,
    fingerprint,
    new_claim,
    new_conversation,
)
from fencepost.turns.ports import TurnStore
from fencepost.turns.service.claiming import ConversationLeases, StoredAnswer, conversation_site, site_asked_for
from fencepost.turns.service.prompt_builder import Draft, PromptBuilder

if TYPE_CHECKING:
    from fencepost.turns.service.turn_retrieval import RetrievalRequest, RunningSearch, TurnRetrieval

type DecideScope = Callable[[Caller, Action, Resource], Scope]
type Attached = Callable[[Scope, Sequence[str]], Sequence[AttachedText]]
"""Returns the texts of a question's files; raises where a file is absent or not ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnService:
    """Answers messages, and regenerates last answers.

    Attributes:
        documents: returns the llms-full documents of a site that has any.
        paid: returns the model of a site, on the deployment's bill and the site's.
        attached: reads the files that come with a question.
        decide: authorises at the beginning of a request.
        decide_again: authorises where the membership changed after that.
        recall: retrieves passages from an index; None where the deployment has no index.
    """

    store: TurnStore
    leases: ConversationLeases
    prompt_builder: PromptBuilder
    documents: Callable[[Site], SiteDocuments]
    paid: Callable[[Site], PaidModel]
    attached: Attached
    conversations: ConversationStore
    directory: Directory
    sites: SiteService
    keys: Keys
    clock: Clock
    decide: DecideScope = authorize
    decide_again: DecideScope = authorize
    recall: TurnRetrieval | None = None

    def answer(self, caller: Caller, request: TurnRequest, trace: Trace) -> TurnAnswer:
        """Answer a message, or return the answer that it has.

        Args:
            caller: with the membership as just read.
            request: screened; begins a conversation unless it names one.
            trace: of the request.

        Raises:
            FencepostError: `site_unknown`, `site_mismatch`, `attachments_invalid`, `attachment_not_ready` or what a
                file was refused for; `message_id_reused`, `conversation_busy` or `not_found`; of the prompt, the bill
                or the model.
        """
        scope, now = self.decide(caller, Action.CHAT, own(caller)), self.clock()
        site = site_asked_for(self.sites, self.conversations, caller, scope, request)
        begins = None if request.conversation_id else new_conversation(site, now)
        claim = new_claim(request, site, now, begins=begins)
        turn = RunningTurn(caller=caller, scope=scope, site=site, request=request, claim=claim)
        if request.attachments:
            # Before the claim: a file that is not ready must not leave a pending question behind.
            turn = replace(turn, attachments=self.attached(scope, request.attachments))
        return self._run(turn, trace)

    def regenerate(
        self,
        caller: Caller,
        message_id: str,
        trace: Trace,
        conversation_id: str | None = None,
        key: str | None = None,
    ) -> TurnAnswer:
        """Regenerate the answer to the last question of a conversation. The old answer is kept as superseded.

        Args:
            caller: with the membership as just read.
            message_id: of the question, or of one of its answers.
            trace: of the request.
            conversation_id: the conversation that the message must be in; None where only the message is known.
            key: the client's idempotency key. Requests with the same key and question get the same answer.

        Raises:
            FencepostError: `not_found`, `answer_missing`, `regenerate_not_last`, or as `answer`.
        """
        scope = self.decide(caller, Action.CHAT, own(caller))
        pointer = self.conversations.pointer(scope, message_id)
        conversation = self.conversations.get(scope, pointer.conversation_id) if pointer else None
        if pointer is None or conversation is None or conversation_id not in (None, conversation.id):
            raise FencepostError(ErrorCode.NOT_FOUND)
        site = conversation_site(self.sites, caller, conversation.site)
        before = self.store.stored_answer(scope, pointer)
        if before is None:
            raise FencepostError(ErrorCode.ANSWER_MISSING)
        request = TurnRequest(message="", message_id=pointer.message_id, conversation_id=conversation.id)
        claim = replace(
            new_claim(request, site, self.clock()),
            site=conversation.site,
            fingerprint=pointer.fingerprint,
            answers_seq=pointer.seq,
            regenerates=revision_of(before) + 1,
            key=fingerprint(key) if key else None,
        )
        return self._run(RunningTurn(caller=caller, scope=scope, site=site, request=request, claim=claim), trace)

    def _run(self, turn: RunningTurn, trace: Trace) -> TurnAnswer:
        require_provider_key(self.keys)
        claimed = self._claim(turn, trace)
        if isinstance(claimed, StoredAnswer):
            conversation_id, message_id = claimed.conversation_id, turn.request.message_id
            return TurnAnswer(conversation_id=conversation_id, message_id=message_id, answer=claimed.answer)
        with self.leases.held(claimed.scope, claimed.claim):
            early = self.recall.early(_retrieval(claimed)) if self.recall else None
            material, documents = self._gather(claimed, trace)
            turn = self._with_question(self._still_allowed(claimed, material), material)
            draft = self._assemble(turn, material, documents, early, trace)
            paid = self.paid(turn.site)
            reply = paid.ask(draft.prompt, trace)  # Reserves first.
            return self._settle(turn, material, draft, paid=paid, reply=reply, trace=trace)

    def _claim(self, turn: RunningTurn, trace: Trace) -> RunningTurn | StoredAnswer:
        """Acquire the lease and store the question as pending; or find the message's stored answer."""
        acquisition, site = self.leases.acquisition(turn.scope, turn.claim), turn.site
        with self.leases.reported(acquisition, trace):
            while True:
                claim = acquisition.next_claim()
                refused = self.store.claim(acquisition.scope, claim)
                if refused is None:
                    acquisition.granted = claim
                    acquisition.require_early()
                    return replace(turn, scope=acquisition.scope, site=site, claim=claim)
                if refused.membership_changed:
                    caller = turn.caller
                    if isinstance(caller, Member):
                        caller = replace(caller, membership=self.directory.membership(caller.org, caller.user))
                    acquisition.scope = self.decide_again(caller, Action.CHAT, own(caller))
                elif refused.conversation and refused.conversation.site != claim.site:
                    moved = refused.conversation.site
                    site = turn.site if moved == turn.claim.site else conversation_site(self.sites, turn.caller, moved)
                    if turn.request.site is not None and site.id != turn.site.id:
                        raise FencepostError(ErrorCode.SITE_MISMATCH)
                    acquisition.move(moved, site.retention.days)
                elif answer := acquisition.learn(claim, refused):
                    return answer

    def _gather(self, turn: RunningTurn, trace: Trace) -> tuple[TurnMaterial, DocumentSet]:
        """Load the conversation and the site's documents. Without its documents a turn goes on, degraded."""

        def load() -> TurnMaterial | None:
            with trace.stage("load"):
                return self.store.load(turn.scope, turn.claim.conversation_id, turn.site.budgets.messages)

        def documents() -> DocumentSet:
            with trace.stage("documents"):
                if not turn.site.documents_url:
                    return NO_DOCUMENTS
                try:
                    return self.documents(turn.site).current(self.clock())
                except FencepostError as error:
                    if error.code is not ErrorCode.DOCUMENTS_UNAVAILABLE:
                        raise
                trace.degraded = True
                return NO_DOCUMENTS

        material, found = run_concurrently(load, documents)
        if material is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        return material, found

    def _still_allowed(self, turn: RunningTurn, material: TurnMaterial) -> RunningTurn:
        """Authorise again where the membership changed since the claim, before anything that was loaded is shown."""
        if not isinstance(turn.caller, Member):
            return turn
        now, scope = replace(turn.caller, membership=material.membership), turn.scope
        if material.membership is None or material.membership.version != scope.permission_version:
            scope = self.decide_again(now, Action.CHAT, own(now))
        return replace(turn, caller=now, scope=scope)

    def _with_question(self, turn: RunningTurn, material: TurnMaterial) -> RunningTurn:
        """Take the question from its row where its answer is regenerated, if that answer is the last message."""
        place_of(material)
        if turn.claim.regenerates is None:
            return turn
        asked = next((one for one in material.recent if one.id == turn.request.message_id), None)
        if asked is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        attachments = self.attached(turn.scope, asked.attachments) if asked.attachments else ()
        request = replace(turn.request, message=asked.content, attachments=asked.attachments)
        return replace(turn, request=request, attachments=attachments)

    def _assemble(
        self,
        turn: RunningTurn,
        material: TurnMaterial,
        documents: DocumentSet,
        early: RunningSearch | None,
        trace: Trace,
    ) -> Draft:
        """Build the prompt. What the index does not return in time is left out, and the turn is degraded."""
        recalled = NOTHING_RECALLED
        if self.recall:
            with trace.stage("retrieve"):
                recalled, degraded = self.recall.found(_retrieval(turn), said_before(material), early, trace)
            trace.degraded |= degraded
        trace.prompt_version = VERSION
        with trace.stage("assemble"):
            draft = self.prompt_builder.draft_turn(
                turn.request, material, documents, turn.site, turn.attachments, recalled=recalled
            )
        trace.sources = tuple(source.id for source in draft.prompt.sources)
        trace.fetched = draft.fetched
        return draft

    def _settle(
        self, turn: RunningTurn, material: TurnMaterial, draft: Draft, *, paid: PaidModel, reply: Reply, trace: Trace
    ) -> TurnAnswer:
        """Store the answer, free the lease and settle the bill, at the same time."""
        try:
            text, cited = draft.answer(reply.text)
        except FencepostError:
            paid.settle(reply, trace)
            raise
        outcome = TurnOutcome(
            text=text,
            cited=cited,
            layers=draft.prompt.layers,
            usage=reply.usage,
            cost=paid.cost(reply),
            model=paid.name,
            prompt_version=VERSION,
            permission_version=turn.scope.permission_version,
            degraded=trace.degraded,
        )
        settled = settlement(turn.claim, turn.request, material, outcome, self.clock())
        refused, _ = run_concurrently(lambda: self.store.settle(turn.scope, settled), lambda: paid.settle(reply, trace))
        if refused:
            raise self._unsettled(turn, refused, trace)
        trace.cited, trace.recorded = settled.context.cited, True
        conversation_id, message_id = turn.claim.conversation_id, turn.request.message_id
        return TurnAnswer(conversation_id=conversation_id, message_id=message_id, answer=settled.answer)

    def _unsettled(self, turn: RunningTurn, refused: SettleRefused, trace: Trace) -> FencepostError:
        """Return the error of an answer that could not be stored. A denial is decided and reported as any other."""
        if refused.membership_ended and isinstance(turn.caller, Member):
            now = replace(turn.caller, membership=refused.membership)
            self.decide_again(now, Action.CHAT, own(now))
        ended = refused.membership_ended or refused.gone
        return FencepostError(ErrorCode.NOT_FOUND) if ended else self.leases.lost(trace)


def _retrieval(turn: RunningTurn) -> RetrievalRequest:
    from fencepost.turns.service.turn_retrieval import RetrievalRequest  # Not loaded without an index.

    return RetrievalRequest(
        caller=turn.caller,
        scope=turn.scope,
        site=turn.site,
        conversation=turn.claim.conversation_id,
        question=turn.request.message,
    )
