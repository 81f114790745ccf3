"""Leases of conversations: taken, reported, and given back where a turn fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock, Keys
from fencepost.observability.domain.events import LeaseEvent
from fencepost.observability.ports import Events
from fencepost.observability.service import Trace, pseudonyms
from fencepost.turns.domain.turns import Claim
from fencepost.turns.ports import TurnStore
from fencepost.turns.service.claiming import ConversationLease, LeaseAcquisition, StoredAnswer

type LeaseResult = Literal["taken", "joined", "resumed", "parked", "busy", "lost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationLeases:
    """Gives conversations to one turn at a time.

    Attributes:
        pause: sleeps for so many seconds.
    """

    store: TurnStore
    events: Events
    keys: Keys
    clock: Clock
    pause: Callable[[float], None]

    def take(
        self, scope: Scope, wanted: Claim, renew: Callable[[], Scope], keep_days: Callable[[str], int], trace: Trace
    ) -> ConversationLease | StoredAnswer:
        """Take a conversation's lease, or find the answer that is there already.

        Args:
            scope: whose conversation it is.
            wanted: the claim of a turn that nothing is known of.
            renew: reads the membership anew and authorises again; raises where that fails.
            keep_days: returns for how many days a site keeps messages; raises where the turn may not be there.
            trace: of the request.

        Raises:
            FencepostError: `message_id_reused`, `conversation_busy`, `not_found` or `conversations_unavailable`; what
                `renew` and `keep_days` raise.
        """
        taking = LeaseAcquisition(
            store=self.store,
            clock=self.clock,
            pause=self.pause,
            renew=renew,
            keep_days=keep_days,
            scope=scope,
            wanted=wanted,
        )
        try:
            with trace.stage("claim"):
                taken = self._in_time(taking)
        except FencepostError as error:
            if error.code is ErrorCode.CONVERSATION_BUSY:
                self._report("busy", taking, trace)
            if error.code is ErrorCode.CONVERSATIONS_UNAVAILABLE:
                # It may have been granted all the same, and only the answer got lost.
                self._give_back(ConversationLease(taking.scope, taking.wanted))
            raise
        finally:
            self._identify(taking, trace)
        self._report(_result(taking, taken), taking, trace)
        return taken

    @contextmanager
    def held(self, lease: ConversationLease) -> Iterator[None]:
        """Give the lease back if the turn fails: its question waits for a retry, which need not wait for the lease."""
        done = False
        try:
            yield
            done = True
        finally:
            if not done:
                self._give_back(lease)

    def lost(self, trace: Trace) -> FencepostError:
        """Report that a lease was over before its turn, and return the error: a retry learns what came of it."""
        self.events.emit(LeaseEvent(result="lost", subject=trace.subject))
        return FencepostError(ErrorCode.CONVERSATION_BUSY)

    def _in_time(self, taking: LeaseAcquisition) -> ConversationLease | StoredAnswer:
        taken = taking.run()
        if isinstance(taken, ConversationLease) and taking.is_late:
            # Its question is stored: the client's next try has the time that this one spent on waiting.
            self._give_back(taken)
            raise FencepostError(ErrorCode.CONVERSATION_BUSY, retry_after=1)
        return taken

    def _give_back(self, lease: ConversationLease) -> None:
        # Where the store does not answer, the lease ends by itself.
        with suppress(FencepostError):
            self.store.release(lease.scope, lease.claim.conversation_id, lease.claim.holder, self.clock())

    def _identify(self, taking: LeaseAcquisition, trace: Trace) -> None:
        claim = taking.wanted
        trace.identify(pseudonyms(self.keys), taking.scope, claim.conversation_id, claim.message_id)

    def _report(self, result: LeaseResult, taking: LeaseAcquisition, trace: Trace) -> None:
        waited = 1_000 * sum(taking.waited.values())
        self.events.emit(
            LeaseEvent(result=result, waited_milliseconds=waited, attempts=taking.tries, subject=trace.subject)
        )


def _result(taking: LeaseAcquisition, taken: ConversationLease | StoredAnswer) -> LeaseResult:
    if isinstance(taken, StoredAnswer):
        return "joined"
    if taken.claim.resumes:
        return "resumed"
    return "parked" if taking.parked else "taken"
