"""How a turn comes by its conversation's lease: at once, after waiting, after a dead turn, or not at all.

Nothing is read beforehand. A claim is tried, and what refuses it says how to go on (docs/adr/0008).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from fencepost.conversations.domain.messages import Message, MessagePointer, OpenTurn
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock
from fencepost.model.domain import LATEST_START_SECONDS
from fencepost.turns.domain.turns import BUSY_SECONDS, JOIN_SECONDS, LEASE, Claim, ClaimRefused
from fencepost.turns.ports import TurnStore

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 0.8
"""Seconds between two tries: each pause is twice the one before it."""
MAX_TRIES = 200
"""Far more than all the waiting takes: a bound for a store that keeps changing its mind."""


@dataclass(frozen=True, slots=True)
class ConversationLease:
    """What a turn holds: the conversation, under the permission of the moment when it was claimed."""

    scope: Scope
    claim: Claim


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The answer that was there already: nothing is left to do."""

    scope: Scope
    conversation_id: str
    answer: Message


@dataclass(slots=True, kw_only=True)
class LeaseAcquisition:
    """One turn on its way to its lease.

    Attributes:
        renew: reads the membership anew and authorises again; raises where that fails.
        keep_days: returns for how many days a site keeps messages, by its id; raises where the turn may not be there.
        pause: sleeps for so many seconds.
        scope: the one of the next try.
        wanted: the claim of a turn that nothing is known of. Where it begins no conversation, the client named one.
        tries: claims made.
        waited: seconds, by what for.
        parked: questions of other dead turns that were put aside.
    """

    store: TurnStore
    clock: Clock
    pause: Callable[[float], None]
    renew: Callable[[], Scope]
    keep_days: Callable[[str], int]
    scope: Scope
    wanted: Claim
    tries: int = 0
    waited: dict[str, float] = field(default_factory=lambda: {"answer": 0.0, "lease": 0.0})
    parked: int = 0
    _began: datetime = field(init=False)
    _next: Claim = field(init=False)
    _named: str | None = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.clock()
        self._next = self.wanted
        self._named = None if self.wanted.begins else self.wanted.conversation_id

    def run(self) -> ConversationLease | StoredAnswer:
        """Try until it is granted, answered or in vain.

        Raises:
            FencepostError: `message_id_reused`, `conversation_busy`, `not_found` or `conversations_unavailable`; what
                `renew` and `keep_days` raise.
        """
        while self.tries < MAX_TRIES:
            self.tries += 1
            now = self.clock()
            claim = replace(self._next, now=now, until=now + LEASE)
            refused = self.store.claim(self.scope, claim)
            if refused is None:
                return ConversationLease(self.scope, claim)
            if found := self._learn(claim, refused):
                return found
        raise FencepostError(ErrorCode.CONVERSATION_BUSY)

    @property
    def is_late(self) -> bool:
        """Whether so much time went by with waiting that an answer would not be ready in time."""
        return any(self.waited.values()) and self._seconds() > LATEST_START_SECONDS

    def _learn(self, claim: Claim, refused: ClaimRefused) -> StoredAnswer | None:
        """Find the answer, or the next try, in what refused the last one. The message's own state comes first."""
        if refused.membership_changed:
            self.scope = self.renew()
        elif refused.contended:
            self.pause(FIRST_PAUSE)
        elif refused.conversation and refused.conversation.site != claim.site:
            self._move(refused.conversation.site)
        elif found := self._stored(refused.pointer):
            return found
        elif refused.conversation and refused.conversation.open_turn:
            self._meet(claim, refused, refused.conversation.open_turn)
        else:
            self._next = self._adjusted(claim, refused)
        return None

    def _move(self, site: str) -> None:
        """Go by the rules of the site that the conversation is on."""
        days = self.keep_days(site)
        self.wanted = replace(self.wanted, site=site, keep_days=days)
        self._next = replace(self._next, site=site, keep_days=days)

    def _stored(self, pointer: MessagePointer | None) -> StoredAnswer | None:
        if pointer is None:
            return None
        same_text = self.wanted.regenerates is not None or pointer.fingerprint == self.wanted.fingerprint
        if not same_text or self._named not in (None, pointer.conversation_id):
            raise FencepostError(ErrorCode.MESSAGE_ID_REUSED)
        answer = self.store.stored_answer(self.scope, pointer, self.wanted.key) if pointer.seq else None
        return StoredAnswer(self.scope, pointer.conversation_id, answer) if answer else None

    def _meet(self, claim: Claim, refused: ClaimRefused, turn: OpenTurn) -> None:
        """Wait for a turn that runs; take over a dead one of the same message; put another's question aside."""
        self._next = self.wanted
        own = self._is_own(turn)
        left = (turn.until - claim.now).total_seconds()
        if left > 0:
            self._wait("answer" if own else "lease", JOIN_SECONDS if own else BUSY_SECONDS, left)
        elif own:
            self._next = replace(self.wanted, begins=None, resumes=turn.holder)
        elif refused.conversation:
            self.parked += self.store.park(self.scope, refused.conversation, claim.now)

    def _is_own(self, turn: OpenTurn) -> bool:
        """Tell whether a turn makes the answer that is wanted: that of the same message, for the same key if any."""
        return turn.message_id == self.wanted.message_id and self.wanted.key in (None, turn.key)

    def _adjusted(self, claim: Claim, refused: ClaimRefused) -> Claim:
        """Return the next try where no turn is open. A pointer says that the message is known and unanswered."""
        if refused.gone:
            raise FencepostError(ErrorCode.NOT_FOUND)
        if refused.files_gone:
            raise FencepostError(ErrorCode.ATTACHMENTS_INVALID)
        if refused.pointer is None:
            # The dead turn that was to be taken over was parked meanwhile; the pointer will say where.
            return self.wanted
        if claim.begins:
            # The client sent the id before, and never learnt which conversation it had begun.
            self.wanted = replace(self.wanted, begins=None, conversation_id=refused.pointer.conversation_id)
            return self.wanted
        if self.wanted.key:
            # The revision is there, and was not made for this key: somebody else was faster.
            self.wanted = replace(self.wanted, regenerates=(self.wanted.regenerates or 1) + 1)
            return self.wanted
        return replace(self.wanted, answers_seq=refused.pointer.seq)

    def _wait(self, what: str, most: float, left: float) -> None:
        waited = self.waited[what]
        # A store that answers slowly takes its time as well.
        if waited >= most or self._seconds() >= JOIN_SECONDS:
            raise FencepostError(ErrorCode.CONVERSATION_BUSY, retry_after=math.ceil(min(left, BUSY_SECONDS)))
        seconds = min(FIRST_PAUSE * 2 ** min(self.tries, 10), LONGEST_PAUSE, left, most - waited)
        self.pause(seconds)
        self.waited[what] = waited + seconds

    def _seconds(self) -> float:
        return (self.clock() - self._began).total_seconds()
