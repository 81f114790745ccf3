"""Lease acquisition: what a turn does next when its claim is refused, and how leases are reported and given back.

No row is read before the first claim. A claim is tried, and the refusal tells how to go on: at once, after waiting for
a running turn, in place of a dead turn, with the answer that exists, or not at all (docs/adr/0008).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from fencepost.conversations.domain.messages import Message, MessagePointer, OpenTurn
from fencepost.conversations.ports import ConversationStore
from fencepost.identity.domain.scope import Caller, Scope, Visitor
from fencepost.identity.domain.sites import Site
from fencepost.identity.service import SiteService
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock, Keys
from fencepost.model.domain import LATEST_START_SECONDS
from fencepost.observability.domain.events import LeaseEvent
from fencepost.observability.ports import Events
from fencepost.observability.service import Trace, pseudonyms
from fencepost.turns.domain.turns import BUSY_SECONDS, JOIN_SECONDS, LEASE, Claim, ClaimRefused, TurnRequest
from fencepost.turns.ports import TurnStore

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 0.8
"""Seconds between two tries. Each pause is twice the one before."""
MAX_TRIES = 200
"""Bound for a store whose refusals keep changing; waiting alone never takes as many tries."""

type LeaseResult = Literal["taken", "joined", "resumed", "parked", "busy", "lost"]


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The answer that a repeated message, or a repeated key, has already."""

    conversation_id: str
    answer: Message


@dataclass(slots=True, kw_only=True)
class LeaseAcquisition:
    """The state of one turn that is acquiring its conversation's lease.

    Attributes:
        pause: sleeps for so many seconds.
        scope: the scope of the next try.
        wanted: the claim for a message that nothing is known of. If it begins no conversation, the client named one.
        tries: claims made so far.
        waited: seconds waited for an answer of the same message, and for a lease of another turn.
        parked: questions of dead turns that were parked.
        granted: the claim that succeeded; None before, and where a stored answer was found.
    """

    store: TurnStore
    clock: Clock
    pause: Callable[[float], None]
    scope: Scope
    wanted: Claim
    tries: int = 0
    waited: dict[str, float] = field(default_factory=lambda: {"answer": 0.0, "lease": 0.0})
    parked: int = 0
    granted: Claim | None = None
    _began: datetime = field(init=False)
    _next: Claim = field(init=False)
    _named: str | None = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.clock()
        self._next = self.wanted
        self._named = None if self.wanted.begins else self.wanted.conversation_id

    def next_claim(self) -> Claim:
        """Return the claim to try next.

        Raises:
            FencepostError: `conversation_busy` after `MAX_TRIES`.
        """
        if self.tries >= MAX_TRIES:
            raise FencepostError(ErrorCode.CONVERSATION_BUSY)
        self.tries += 1
        now = self.clock()
        return replace(self._next, now=now, until=now + LEASE)

    def move(self, site: str, keep_days: int) -> None:
        """Claim on another site, which the conversation turned out to be on."""
        self.wanted = replace(self.wanted, site=site, keep_days=keep_days)
        self._next = replace(self._next, site=site, keep_days=keep_days)

    def learn(self, claim: Claim, refused: ClaimRefused) -> StoredAnswer | None:
        """Return the stored answer, or prepare the next claim. The message's own state is looked at first.

        Raises:
            FencepostError: `message_id_reused`, `conversation_busy`, `not_found` or `attachments_invalid`.
        """
        if refused.contended:
            self.pause(FIRST_PAUSE)
        elif found := self._stored(refused.pointer):
            return found
        elif refused.conversation and (turn := refused.conversation.open_turn):
            self._next = self.wanted
            own = turn.message_id == self.wanted.message_id and self.wanted.key in (None, turn.key)
            if turn.until > claim.now:
                self._wait(turn, claim.now, own=own)
            elif own:
                self._next = replace(self.wanted, begins=None, resumes=turn.holder)
            else:
                self.parked += self.store.park(self.scope, refused.conversation, claim.now)
        else:
            self._next = self._adjusted(claim, refused)
        return None

    def require_early(self) -> None:
        """Require that waiting has left enough time for an answer.

        Raises:
            FencepostError: `conversation_busy`. The question is stored, so the client's next try need not wait.
        """
        if any(self.waited.values()) and self._seconds() > LATEST_START_SECONDS:
            raise FencepostError(ErrorCode.CONVERSATION_BUSY, retry_after=1)

    def _stored(self, pointer: MessagePointer | None) -> StoredAnswer | None:
        if pointer is None:
            return None
        same_text = self.wanted.regenerates is not None or pointer.fingerprint == self.wanted.fingerprint
        if not same_text or self._named not in (None, pointer.conversation_id):
            raise FencepostError(ErrorCode.MESSAGE_ID_REUSED)
        answer = self.store.stored_answer(self.scope, pointer, self.wanted.key) if pointer.seq else None
        return StoredAnswer(pointer.conversation_id, answer) if answer else None

    def _adjusted(self, claim: Claim, refused: ClaimRefused) -> Claim:
        """Return the next claim where no turn is open. A pointer means that the message is known and unanswered."""
        if refused.gone:
            raise FencepostError(ErrorCode.NOT_FOUND)
        if refused.files_gone:
            raise FencepostError(ErrorCode.ATTACHMENTS_INVALID)
        if refused.pointer is None:
            # The dead turn to be resumed was parked meanwhile; the pointer will tell where its question stands.
            return self.wanted
        if claim.begins:
            # The client sent the id before, and never learnt the id of the conversation that it began.
            self.wanted = replace(self.wanted, begins=None, conversation_id=refused.pointer.conversation_id)
            return self.wanted
        if self.wanted.key:
            # Another request made this revision, for another key.
            self.wanted = replace(self.wanted, regenerates=(self.wanted.regenerates or 1) + 1)
            return self.wanted
        return replace(self.wanted, answers_seq=refused.pointer.seq)

    def _wait(self, turn: OpenTurn, now: datetime, *, own: bool) -> None:
        """Pause while another process runs the turn of this message, or of another one."""
        what, most = ("answer", JOIN_SECONDS) if own else ("lease", BUSY_SECONDS)
        waited, left = self.waited[what], (turn.until - now).total_seconds()
        # The time that a slow store takes counts as well.
        if waited >= most or self._seconds() >= JOIN_SECONDS:
            raise FencepostError(ErrorCode.CONVERSATION_BUSY, retry_after=math.ceil(min(left, BUSY_SECONDS)))
        seconds = min(FIRST_PAUSE * 2 ** min(self.tries, 10), LONGEST_PAUSE, left, most - waited)
        self.pause(seconds)
        self.waited[what] = waited + seconds

    def _seconds(self) -> float:
        return (self.clock() - self._began).total_seconds()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationLeases:
    """Begins lease acquisitions, reports their results and gives leases back.

    Attributes:
        pause: sleeps for so many seconds.
    """

    store: TurnStore
    events: Events
    keys: Keys
    clock: Clock
    pause: Callable[[float], None]

    def acquisition(self, scope: Scope, wanted: Claim) -> LeaseAcquisition:
        """Return a new acquisition."""
        return LeaseAcquisition(store=self.store, clock=self.clock, pause=self.pause, scope=scope, wanted=wanted)

    @contextmanager
    def reported(self, acquisition: LeaseAcquisition, trace: Trace) -> Iterator[None]:
        """Report the result of an acquisition, and give a lease back that is too late or may have been granted."""
        try:
            with trace.stage("claim"):
                yield
        except FencepostError as error:
            if error.code is ErrorCode.CONVERSATION_BUSY:
                self._report("busy", acquisition, trace)
            if acquisition.granted:
                self._give_back(acquisition.scope, acquisition.granted)
            elif error.code is ErrorCode.CONVERSATIONS_UNAVAILABLE:
                # The claim may have succeeded with only its answer lost.
                self._give_back(acquisition.scope, acquisition.wanted)
            raise
        finally:
            wanted = acquisition.wanted
            trace.identify(pseudonyms(self.keys), acquisition.scope, wanted.conversation_id, wanted.message_id)
        granted = acquisition.granted
        result: LeaseResult = "joined"
        if granted:
            result = "resumed" if granted.resumes else "parked" if acquisition.parked else "taken"
        self._report(result, acquisition, trace)

    @contextmanager
    def held(self, scope: Scope, claim: Claim) -> Iterator[None]:
        """Give the lease back if the turn fails, so that a retry of its question need not wait for the lease."""
        done = False
        try:
            yield
            done = True
        finally:
            if not done:
                self._give_back(scope, claim)

    def lost(self, trace: Trace) -> FencepostError:
        """Report that a lease ended before its turn, and return the error. A retry gets the other turn's answer."""
        self.events.emit(LeaseEvent(result="lost", subject=trace.subject))
        return FencepostError(ErrorCode.CONVERSATION_BUSY)

    def _give_back(self, scope: Scope, claim: Claim) -> None:
        # If the store does not answer, the lease expires.
        with suppress(FencepostError):
            self.store.release(scope, claim.conversation_id, claim.holder, self.clock())

    def _report(self, result: LeaseResult, acquisition: LeaseAcquisition, trace: Trace) -> None:
        waited = 1_000 * sum(acquisition.waited.values())
        self.events.emit(
            LeaseEvent(result=result, waited_milliseconds=waited, attempts=acquisition.tries, subject=trace.subject)
        )


def site_asked_for(
    sites: SiteService, conversations: ConversationStore, caller: Caller, scope: Scope, request: TurnRequest
) -> Site:
    """Return the site that a message seems to be for. The claim finds out which site its conversation is on.

    Raises:
        FencepostError: `site_unknown`, `site_mismatch` or `not_found`.
    """
    try:
        return sites.site_for(caller, request.site)
    except FencepostError as error:
        named = request.site is not None or isinstance(caller, Visitor)
        if error.code is not ErrorCode.SITE_UNKNOWN or named or request.conversation_id is None:
            raise
    # The default site is closed, but the conversation may be on another site.
    conversation = conversations.get(scope, request.conversation_id)
    if conversation is None:
        raise FencepostError(ErrorCode.NOT_FOUND)
    return conversation_site(sites, caller, conversation.site)


def conversation_site(sites: SiteService, caller: Caller, site_id: str) -> Site:
    """Return a conversation's site: the default site for a conversation that began outside all sites.

    Raises:
        FencepostError: `site_mismatch`; a visitor belongs to another site. `site_unknown`; the site is closed.
    """
    if isinstance(caller, Visitor) and site_id != caller.site:
        raise FencepostError(ErrorCode.SITE_MISMATCH)
    return sites.open_site(caller.org, site_id) if site_id else sites.site_for(caller)
