"""A turn of a conversation that is remembered: five steps to the stores, and one call of the model between them.

Limit and membership, at once (`fencepost.web.api`) · claim · load · reserve · settle, with the bill at once. What a
crash in between leaves behind, and who finishes it, stands in docs/adr/0008.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace

from fencepost.conversations.domain.messages import Conversation, MessagePointer, revision_of
from fencepost.conversations.ports import ConversationStore
from fencepost.identity.domain.scope import Action, Caller, Member, Scope, Visitor, authorize, own
from fencepost.identity.domain.sites import Site
from fencepost.identity.ports import Directory
from fencepost.identity.service import SiteService
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ids import RANDOM_BITS, uuid7
from fencepost.kernel.ports import Clock, Keys
from fencepost.model.service import require_provider_key
from fencepost.observability.service import Trace
from fencepost.turns.domain.turns import LEASE, Claim, TurnAnswer, TurnRequest, fingerprint
from fencepost.turns.service.answering import Answering, DecideScope, RunningTurn
from fencepost.turns.service.claiming import StoredAnswer

_RANDOM_BYTES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnService:
    """The use cases of a turn: to answer a message, and to answer the last one anew.

    Attributes:
        decide: authorises, as a request comes. `answering` has one of its own for what happens after the claim.
    """

    answering: Answering
    conversations: ConversationStore
    directory: Directory
    sites: SiteService
    keys: Keys
    clock: Clock
    decide: DecideScope = authorize

    def answer(self, caller: Caller, request: TurnRequest, trace: Trace) -> TurnAnswer:
        """Answer a message, or return the answer that it has.

        Args:
            caller: with the membership of this moment.
            request: screened; without a conversation's id it begins one.
            trace: of the request.

        Raises:
            FencepostError: the first thing that stands in the way: of the site, the files, the conversation
                (`Leases.take`), or the answer (`Answering.finish`).
        """
        scope = self.decide(caller, Action.CHAT, own(caller))
        site = self._asked_on(caller, scope, request)
        turn = RunningTurn(caller=caller, scope=scope, site=site, request=request, claim=self._wanted(request, site))
        if request.attachments:
            # Before anything is stored: a file that is not ready must not leave a question behind that waits for it.
            turn = replace(turn, attachments=self.answering.attached(scope, request.attachments))
        return self._run(turn, trace)

    def regenerate(
        self,
        caller: Caller,
        message_id: str,
        trace: Trace,
        conversation_id: str | None = None,
        key: str | None = None,
    ) -> TurnAnswer:
        """Answer the last question of a conversation anew. The answer before it stays, superseded.

        Args:
            caller: with the membership of this moment.
            message_id: the question's, or one of its answers'.
            trace: of the request.
            conversation_id: where it must stand; None where the message's id is all that is known.
            key: the client's own for this very wish: however often it comes for the same question, it makes one
                answer, and gets that.

        Raises:
            FencepostError: `not_found`, `answer_missing`, `regenerate_not_last`, or as `answer`.
        """
        scope = self.decide(caller, Action.CHAT, own(caller))
        pointer = self.conversations.pointer(scope, message_id)
        conversation = self.conversations.get(scope, pointer.conversation_id) if pointer else None
        if pointer is None or conversation is None or conversation_id not in (None, conversation.id):
            raise FencepostError(ErrorCode.NOT_FOUND)
        site = self._at(caller, conversation.site)
        request = TurnRequest(message="", message_id=pointer.message_id, conversation_id=conversation.id)
        claim = replace(
            self._wanted_anew(scope, pointer, conversation.site),
            key=fingerprint(key) if key else None,
            keep_days=site.retention.days,
        )
        return self._run(RunningTurn(caller=caller, scope=scope, site=site, request=request, claim=claim), trace)

    def _run(self, turn: RunningTurn, trace: Trace) -> TurnAnswer:
        require_provider_key(self.keys)
        leases, message_id = self.answering.leases, turn.request.message_id
        taken = leases.take(
            turn.scope,
            turn.claim,
            lambda: self._renewed(turn.caller),
            lambda site: self._moved(turn, site).retention.days,
            trace,
        )
        if isinstance(taken, StoredAnswer):
            return TurnAnswer(conversation_id=taken.conversation_id, message_id=message_id, answer=taken.answer)
        with leases.held(taken):
            site = self._moved(turn, taken.claim.site)
            return self.answering.finish(replace(turn, site=site, scope=taken.scope, claim=taken.claim), trace)

    def _asked_on(self, caller: Caller, scope: Scope, request: TurnRequest) -> Site:
        """Return the site that a message seems to be for. Which one its conversation is on, the claim will say."""
        try:
            return self.sites.site_for(caller, request.site)
        except FencepostError as error:
            named = request.site is not None or isinstance(caller, Visitor)
            if error.code is not ErrorCode.SITE_UNKNOWN or named or request.conversation_id is None:
                raise
        # The default site is closed; the conversation may well be on another one.
        conversation = self.conversations.get(scope, request.conversation_id)
        if conversation is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        return self._at(caller, conversation.site)

    def _moved(self, turn: RunningTurn, site_id: str) -> Site:
        """Return the site that a turn's conversation is on, where that may be another one than it seemed.

        Raises:
            FencepostError: `site_mismatch`; the request named a site. `site_unknown`; it is closed.
        """
        if site_id == turn.claim.site:
            return turn.site
        site = self._at(turn.caller, site_id)
        if turn.request.site is not None and site.id != turn.site.id:
            raise FencepostError(ErrorCode.SITE_MISMATCH)
        return site

    def _at(self, caller: Caller, site_id: str) -> Site:
        """Return a conversation's site. One that began outside all sites is on the default one, once there is one."""
        if isinstance(caller, Visitor) and site_id != caller.site:
            raise FencepostError(ErrorCode.SITE_MISMATCH)
        return self.sites.serving(caller.org, site_id) if site_id else self.sites.site_for(caller)

    def _renewed(self, caller: Caller) -> Scope:
        """Authorise with the membership as it is by now: it changed between two looks."""
        if isinstance(caller, Member):
            caller = replace(caller, membership=self.directory.membership(caller.org, caller.user))
        return self.answering.decide(caller, Action.CHAT, own(caller))

    def _wanted(self, request: TurnRequest, site: Site) -> Claim:
        begins = None if request.conversation_id else self._new_conversation(site)
        conversation_id = begins.id if begins else request.conversation_id or ""
        asked = fingerprint(request.message, request.attachments)
        return replace(
            self._claim(conversation_id, request.message_id, asked, site.id),
            begins=begins,
            content=request.message,
            attachments=request.attachments,
            keep_days=site.retention.days,
        )

    def _wanted_anew(self, scope: Scope, pointer: MessagePointer, site_id: str) -> Claim:
        before = self.answering.store.stored_answer(scope, pointer)
        if before is None:
            raise FencepostError(ErrorCode.ANSWER_MISSING)
        claim = self._claim(pointer.conversation_id, pointer.message_id, pointer.fingerprint, site_id)
        return replace(claim, answers_seq=pointer.seq, regenerates=revision_of(before) + 1)

    def _claim(self, conversation_id: str, message_id: str, asked: str, site_id: str) -> Claim:
        now = self.clock()
        return Claim(
            conversation_id=conversation_id,
            message_id=message_id,
            fingerprint=asked,
            content="",
            holder=secrets.token_urlsafe(_RANDOM_BYTES),
            now=now,
            until=now + LEASE,
            site=site_id,
        )

    def _new_conversation(self, site: Site) -> Conversation:
        now = self.clock()
        return Conversation(
            id=uuid7(now, secrets.randbits(RANDOM_BITS)),
            site=site.id,
            incarnation=secrets.token_urlsafe(_RANDOM_BYTES),
            title="",
            created_at=now,
            updated_at=now,
            next_seq=1,
            keep_days=site.retention.days,
        )
