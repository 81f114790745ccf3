"""From a lease to a stored answer: load, assemble, ask the model once, settle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fencepost.conversations.domain.attachments import AttachedText
from fencepost.documents.domain.sections import NO_DOCUMENTS, DocumentSet
from fencepost.documents.ports import SiteDocuments
from fencepost.identity.domain.scope import Action, Caller, Member, Resource, Scope, authorize, own
from fencepost.identity.domain.sites import Site
from fencepost.kernel.concurrency import run_concurrently
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock
from fencepost.model.service import PaidModel, Reply
from fencepost.observability.domain.event_parts import Fetched
from fencepost.observability.service import Trace
from fencepost.prompting.domain.fence import marker_id
from fencepost.retrieval.domain.search import NOTHING_RECALLED, Recalled
from fencepost.turns.domain.prompt_inputs import said_before
from fencepost.turns.domain.settlements import TurnOutcome, place_of, settlement
from fencepost.turns.domain.system_prompt import VERSION
from fencepost.turns.domain.turns import Claim, SettleRefused, TurnAnswer, TurnMaterial, TurnRequest
from fencepost.turns.ports import TurnStore
from fencepost.turns.service.conversation_leases import ConversationLeases
from fencepost.turns.service.prompt_builder import Draft, PromptBuilder

if TYPE_CHECKING:
    from fencepost.turns.service.turn_retrieval import RetrievalRequest, RunningSearch, TurnRetrieval

type DecideScope = Callable[[Caller, Action, Resource], Scope]
type Attached = Callable[[Scope, Sequence[str]], Sequence[AttachedText]]
"""Returns what is written in a question's files; raises where one is not there, or not ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningTurn:
    """One turn on its way.

    Attributes:
        scope: of the last look at the membership.
        claim: the wanted one, then the granted one.
    """

    caller: Caller
    scope: Scope
    site: Site
    request: TurnRequest
    claim: Claim
    attachments: Sequence[AttachedText] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """Steps three to five of a turn.

    Attributes:
        documents: the library of a site that has documentation.
        paid: the model of a site, on the deployment's bill and the site's.
        decide: authorises again, where the membership changed after the claim.
        recall: finds passages in an index; None where the deployment has none.
    """

    store: TurnStore
    leases: ConversationLeases
    composer: PromptBuilder
    documents: Callable[[Site], SiteDocuments]
    paid: Callable[[Site], PaidModel]
    attached: Attached
    clock: Clock
    decide: DecideScope = authorize
    recall: TurnRetrieval | None = None

    def finish(self, turn: RunningTurn, trace: Trace) -> TurnAnswer:
        """Answer the turn that holds its conversation's lease. The lease is its caller's to give back on failure.

        Raises:
            FencepostError: `not_found` where the permission or the conversation is gone; `regenerate_not_last`; of the
                prompt, the bill or the model; `conversation_busy` where the lease was over too early.
        """
        begun = self.recall.early(_asked(turn)) if self.recall else None
        material, documents = self._load(turn, trace)
        turn = self._still_allowed(turn, material)
        place_of(material)
        turn = self._with_question(turn, material)
        recalled = self._recalled(turn, material, begun, trace)
        draft = self._draft(turn, material, documents, recalled, trace)
        paid = self.paid(turn.site)
        reply = paid.ask(draft.prompt, trace)
        try:
            outcome = _outcome(turn, paid, draft, reply, trace)
        except FencepostError:
            paid.settle(reply, trace)
            raise
        return self._settle(turn, material, outcome, lambda: paid.settle(reply, trace), trace)

    def _load(self, turn: RunningTurn, trace: Trace) -> tuple[TurnMaterial, DocumentSet]:
        def load() -> TurnMaterial | None:
            with trace.stage("load"):
                return self.store.load(turn.scope, turn.claim.conversation_id, turn.site.budgets.messages)

        def documents() -> DocumentSet:
            with trace.stage("documents"):
                return self._documents(turn.site, trace)

        material, found = run_concurrently(load, documents)
        if material is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        return material, found

    def _documents(self, site: Site, trace: Trace) -> DocumentSet:
        """Return a site's documents; none where it has none, or where they cannot be had: the turn goes on degraded."""
        if not site.documents_url:
            return NO_DOCUMENTS
        try:
            return self.documents(site).current(self.clock())
        except FencepostError as error:
            if error.code is not ErrorCode.DOCUMENTS_UNAVAILABLE:
                raise
        trace.degraded = True
        return NO_DOCUMENTS

    def _still_allowed(self, turn: RunningTurn, material: TurnMaterial) -> RunningTurn:
        """Decide again where the membership is another one than at the claim: what was loaded is not shown before."""
        if not isinstance(turn.caller, Member):
            return turn
        now = Member(turn.caller.org, turn.caller.user, material.membership)
        scope = turn.scope
        if material.membership is None or material.membership.version != scope.permission_version:
            scope = self.decide(now, Action.CHAT, own(now))
        return replace(turn, caller=now, scope=scope)

    def _with_question(self, turn: RunningTurn, material: TurnMaterial) -> RunningTurn:
        """Take the text of a question that is answered anew from its row."""
        if turn.claim.regenerates is None:
            return turn
        asked = next((one for one in material.recent if one.id == turn.request.message_id), None)
        if asked is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        attachments = self.attached(turn.scope, asked.attachments) if asked.attachments else ()
        request = replace(turn.request, message=asked.content, attachments=asked.attachments)
        return replace(turn, request=request, attachments=attachments)

    def _recalled(
        self, turn: RunningTurn, material: TurnMaterial, begun: RunningSearch | None, trace: Trace
    ) -> Recalled:
        """Return what the index found by now, which may be nothing: the turn goes on degraded."""
        if self.recall is None:
            return NOTHING_RECALLED
        with trace.stage("retrieve"):
            recalled, degraded = self.recall.found(_asked(turn), said_before(material), begun, trace)
        trace.degraded |= degraded
        return recalled

    def _draft(
        self, turn: RunningTurn, material: TurnMaterial, documents: DocumentSet, recalled: Recalled, trace: Trace
    ) -> Draft:
        trace.prompt_version = VERSION
        with trace.stage("assemble"):
            draft = self.composer.draft_turn(
                turn.request, material, documents, turn.site, turn.attachments, recalled=recalled
            )
        trace.sources = tuple(source.id for source in draft.prompt.sources)
        trace.fetched = _fetched(turn, material, documents, recalled, draft)
        return draft

    def _settle(
        self,
        turn: RunningTurn,
        material: TurnMaterial,
        outcome: TurnOutcome,
        settle_bill: Callable[[], None],
        trace: Trace,
    ) -> TurnAnswer:
        claim = turn.claim
        what = settlement(claim, turn.request, material, outcome, self.clock())
        refused, _ = run_concurrently(lambda: self.store.settle(turn.scope, what), settle_bill)
        if refused:
            raise self._unsettled(turn, refused, trace)
        trace.cited, trace.recorded = what.context.cited, True
        return TurnAnswer(conversation_id=claim.conversation_id, message_id=turn.request.message_id, answer=what.answer)

    def _unsettled(self, turn: RunningTurn, refused: SettleRefused, trace: Trace) -> FencepostError:
        """Return why an answer could not be stored. A denial is decided, and reported, like every other one."""
        if refused.membership_ended and isinstance(turn.caller, Member):
            now = replace(turn.caller, membership=refused.membership)
            self.decide(now, Action.CHAT, own(now))
        ended = refused.membership_ended or refused.gone
        return FencepostError(ErrorCode.NOT_FOUND) if ended else self.leases.lost(trace)


def _asked(turn: RunningTurn) -> RetrievalRequest:
    # Without an index nothing of retrieval is imported.
    from fencepost.turns.service.turn_retrieval import RetrievalRequest

    return RetrievalRequest(
        caller=turn.caller,
        scope=turn.scope,
        site=turn.site,
        conversation=turn.claim.conversation_id,
        question=turn.request.message,
    )


def _outcome(turn: RunningTurn, paid: PaidModel, draft: Draft, reply: Reply, trace: Trace) -> TurnOutcome:
    text, cited = draft.answer(reply.text)
    return TurnOutcome(
        text=text,
        cited=cited,
        layers=draft.layers,
        usage=reply.usage,
        cost=paid.cost(reply),
        model=paid.name,
        prompt_version=VERSION,
        permission_version=turn.scope.permission_version,
        degraded=trace.degraded,
    )


def _fetched(
    turn: RunningTurn, material: TurnMaterial, documents: DocumentSet, recalled: Recalled, draft: Draft
) -> Fetched:
    # How many passages an index has is not known; that it has some is.
    indexed = 0 if recalled.passages is None else max(1, len(recalled.passages))
    return Fetched(
        messages=len(material.recent),
        facts=len(turn.site.pinned_facts) + len(material.facts),
        summary_lines=len(material.summary.lines) if material.summary else 0,
        attachments=len(turn.attachments),
        sections=sum(marker_id(source.id).startswith("doc:") for source in draft.prompt.sources),
        sections_available=max(len(documents.sections), indexed),
    )
