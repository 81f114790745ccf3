"""Conversations that are erased from an index too, over fakes of all ports that an erasure calls."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import timedelta

from fencepost.identity.domain.scope import Action, Operator, Resource, Scope, authorize
from fencepost.kernel.errors import FencepostError
from fencepost.lifecycle.domain.erasures import Receipt
from fencepost.lifecycle.service.erase import EraseService
from fencepost.lifecycle.service.vector_erasure import VectorEraser
from fencepost.observability.domain.events import ErasureEvent
from fencepost.queue.domain import DELAYS, Job, Purpose
from tests.fakes.answers import FakeKeys, Fault, FixedClock
from tests.fakes.conversations import owned
from tests.fakes.corpus import PortFaults
from tests.fakes.eraser import FakeEraser
from tests.fakes.index import FakeIndex
from tests.fakes.memories import Diary
from tests.fakes.memory import FakeJobs
from tests.worlds.chat import FakeEvents

TEXTS = ("Where is my key?", "Under the mat.", "And the mat?")
ROWS = {"messages": 3, "pointers": 2, "parts": 3}


def owner(name: str = "visitor:ann", org: str = "acme") -> Scope:
    """Return the scope in which everything of an owner may be erased."""
    return authorize(Operator(org), Action.ERASE, Resource(org, name))


ANN, BOB, ABROAD = owner(), owner("visitor:bob"), owner(org="zeta")


@dataclass
class VectorErasures:
    """An erasure, and all that it calls.

    Attributes:
        late: how many listings of the index do without what was written or removed.
        due: a fault for each of the next calls of any port, in order; None lets one pass.
    """

    late: int = 0
    due: deque[Fault | None] = field(default_factory=deque)
    clock: FixedClock = field(default_factory=FixedClock)
    events: FakeEvents = field(default_factory=FakeEvents)

    def __post_init__(self) -> None:
        self.index = FakeIndex(PortFaults(self.due), late=self.late)
        self.diary = Diary(self.index, clock=self.clock)
        self.rest = FakeEraser(faults=self.due, on_forget=self.diary.erase)
        self.jobs = FakeJobs(clock=self.clock)
        self.diary.conversations.faults.due = self.jobs.faults.due = self.due

    @property
    def eraser(self) -> VectorEraser:
        return VectorEraser(rest=self.rest, index=self.index, conversations=self.diary.conversations)

    @property
    def service(self) -> EraseService:
        return EraseService(
            conversations=self.diary.conversations,
            eraser=self.eraser,
            jobs=self.jobs,
            keys=FakeKeys(),
            events=self.events,
            clock=self.clock,
        )

    def tell(self, scope: Scope, *conversation_ids: str, texts: tuple[str, ...] = TEXTS) -> None:
        """Store conversations, with an entry for each text."""
        for conversation_id in conversation_ids:
            self.diary.tell(scope, conversation_id, *texts)
            self.rest.living[owned(scope, conversation_id)] = Counter(ROWS)

    def entries(self, scope: Scope, *conversation_ids: str) -> list[str]:
        """Return the chunks of an owner's entries in the index, whether it lists them or not."""
        entries = [one for one in self.index.entries.values() if (one.org, one.owner) == (scope.org, scope.owner)]
        return sorted(one.chunk for one in entries if not conversation_ids or one.parent in conversation_ids)

    def come(self, job: Job | None = None) -> bool:
        """Let the job come once, at its time or some seconds after it failed, and tell whether it came to its end."""
        record = self.jobs.queued[0] if job is None else job
        try:
            self.service.run(owner(record.owner, record.org), record)
        except FencepostError:
            self.clock.advance(10)
            return False
        return True

    def finish(self, most: int = 5) -> int:
        """Let the job come at its time until it is done, and return how often it came."""
        self.clock.advance(DELAYS[Purpose.ERASE] / timedelta(seconds=1))
        self.settle()
        for attempt in range(1, most + 1):
            if self.come():
                return attempt
        raise AssertionError("the erasure does not end")

    def settle(self) -> None:
        """Wait until the index lists what is there."""
        for _ in range(self.late):
            self.index.listed(ANN, None, 1)

    def receipt(self, scope: Scope) -> Receipt:
        """Return the receipt of the first erasure."""
        return self.service.receipt(scope, self.jobs.queued[0].record or "")

    @property
    def results(self) -> list[str]:
        return [event.result for event in self.events.of(ErasureEvent)]
