"""Fakes of what is remembered and of background work: plain memory with the same rules as the adapters."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Lock

from fencepost.conversations.domain.messages import Conversation
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import Fact, FactState
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory.domain.facts import MAX_WRITTEN
from fencepost.memory.domain.summaries import Summary
from fencepost.queue.domain import Job, JobRecord, JobState, Purpose, WorkLease
from tests.fakes.answers import Fault

type Owner = tuple[str, str]
type Place = tuple[str, str, str]
"""Organisation, owner, conversation."""


class Faults:
    """What goes wrong with the next calls of a store, in order."""

    def __init__(self) -> None:
        self.due: deque[Fault | None] = deque()
        self.lock = Lock()

    @contextmanager
    def call(self) -> Iterator[None]:
        """Make one call of the store, alone, with the fault that is due."""
        with self.lock:
            fault = self.due.popleft() if self.due else None
            if fault == "before":
                raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
            yield
            if fault == "after":
                raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)


@dataclass
class FakeMemory:
    """Implements `MemoryStore`.

    Attributes:
        conversation: finds a conversation's row, as the store does in the same transaction; None knows no conversation.
        update: stores a changed row.
        erased: when everything of an owner was erased.
        interfere: called once between reading facts and writing them, as another writer would be.
    """

    conversation: Callable[[Scope, str], Conversation | None] = lambda _scope, _conversation_id: None
    update: Callable[[Scope, Conversation], None] = lambda _scope, _conversation: None
    erased: dict[Owner, datetime] = field(default_factory=dict)
    interfere: Callable[[], None] | None = None
    faults: Faults = field(default_factory=Faults)
    _facts: dict[Owner, dict[str, Fact]] = field(default_factory=dict)
    _summaries: dict[Place, Summary] = field(default_factory=dict)

    def facts(self, scope: Scope, *states: FactState) -> tuple[Fact, ...]:
        with self.faults.call():
            return self._in_states(scope, *states)

    def write_facts(self, scope: Scope, facts: Sequence[Fact], *, made_at: datetime | None = None) -> bool:
        with self.faults.call():
            if self._was_erased(scope, made_at):
                return False
            self._write(scope, facts)
            return True

    def change_facts(
        self, scope: Scope, change: Callable[[Sequence[Fact]], Sequence[Fact]], *, job: Job | None = None
    ) -> bool:
        while True:
            before = self.facts(scope, FactState.PINNED, FactState.PROPOSED)
            changes = change(before)
            if self.interfere:
                interfere, self.interfere = self.interfere, None
                interfere()
            with self.faults.call():
                if job and (self._was_erased(scope, job.created_at) or not self._is_current(scope, job)):
                    return False
                if before == self._in_states(scope, FactState.PINNED, FactState.PROPOSED):
                    self._write(scope, changes)
                    return True

    def delete_fact(self, scope: Scope, fact_id: str) -> bool:
        with self.faults.call():
            return self._owned(scope).pop(fact_id, None) is not None

    def summary(self, scope: Scope, conversation_id: str) -> Summary | None:
        with self.faults.call():
            return self._summaries.get(_place(scope, conversation_id))

    def write_summary(self, scope: Scope, conversation_id: str, incarnation: str, summary: Summary) -> bool:
        with self.faults.call():
            row = self._row(scope, conversation_id, incarnation)
            if row is None or row.summarised_through > summary.last_seq:
                return False
            self._summaries[_place(scope, conversation_id)] = summary
            self.update(scope, replace(row, summarised_through=summary.last_seq))
            return True

    def drop_summary(self, scope: Scope, conversation_id: str, remaining: Summary | None = None) -> None:
        with self.faults.call():
            place, row = _place(scope, conversation_id), self.conversation(scope, conversation_id)
            summary = self._summaries.get(place)
            if row is None or (remaining and (summary is None or summary.id != remaining.id)):
                return
            self._summaries.pop(place, None)
            if remaining:
                self._summaries[place] = remaining
            self.update(scope, replace(row, summarised_through=remaining.last_seq if remaining else 0))

    def name_conversation(self, scope: Scope, conversation_id: str, incarnation: str, title: str) -> bool:
        with self.faults.call():
            row = self._row(scope, conversation_id, incarnation)
            if row is None or row.title:
                return False
            self.update(scope, replace(row, title=title))
            return True

    def _owned(self, scope: Scope) -> dict[str, Fact]:
        return self._facts.setdefault((scope.org, scope.owner), {})

    def _in_states(self, scope: Scope, *states: FactState) -> tuple[Fact, ...]:
        found = (fact for fact in self._owned(scope).values() if fact.state in states)
        return tuple(sorted(found, key=lambda fact: (fact.created_at, fact.id)))

    def _write(self, scope: Scope, facts: Sequence[Fact]) -> None:
        owned = self._owned(scope)
        moved = sum(fact.id in owned and owned[fact.id].state is not fact.state for fact in facts)
        if len(facts) + moved > MAX_WRITTEN:
            raise ValueError("more facts than one transaction takes")
        owned.update({fact.id: fact for fact in facts})

    def _was_erased(self, scope: Scope, made_at: datetime | None) -> bool:
        erased_at = self.erased.get((scope.org, scope.owner))
        return made_at is not None and erased_at is not None and erased_at >= made_at

    def _is_current(self, scope: Scope, job: Job) -> bool:
        return not job.conversation or self._row(scope, job.conversation, job.incarnation or "") is not None

    def _row(self, scope: Scope, conversation_id: str, incarnation: str) -> Conversation | None:
        row = self.conversation(scope, conversation_id)
        return row if row and row.incarnation == incarnation else None


@dataclass
class FakeJobs:
    """Implements `JobStore`. `queued` are the jobs that the stream would bring to the queue.

    Without a clock a record says for ever that it was last changed when it was made.
    """

    conversation: Callable[[Scope, str], Conversation | None] = lambda _scope, _conversation_id: None
    queued: list[Job] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)
    _records: dict[tuple[str, str, str], JobRecord] = field(default_factory=dict)
    _work: dict[tuple[Place, Purpose], tuple[WorkLease | None, int]] = field(default_factory=dict)
    clock: Callable[[], datetime] | None = None

    def queue(self, scope: Scope, record: JobRecord) -> None:
        with self.faults.call():
            if _place(scope, record.id) not in self._records:
                self._records[_place(scope, record.id)] = record
                self.queued.append(record.job)

    def job(self, scope: Scope, job_id: str) -> JobRecord | None:
        with self.faults.call():
            return self._records.get(_place(scope, job_id))

    def advance(
        self, scope: Scope, job_id: str, state: JobState, *, progress: dict[str, int], error: str | None = None
    ) -> bool:
        with self.faults.call():
            record = self._records.get(_place(scope, job_id))
            if record is None:
                return False
            now = self.clock() if self.clock else record.updated_at
            changed = replace(record, state=state, progress=progress, error=error, updated_at=now)
            self._records[_place(scope, job_id)] = changed
            return True

    def forget(self, scope: Scope) -> None:
        """Remove all records of an owner, as an erasure does."""
        self._records = {key: record for key, record in self._records.items() if key[:2] != (scope.org, scope.owner)}

    def begin(self, scope: Scope, job: Job, lease: WorkLease) -> int | None:
        with self.faults.call():
            conversation_id = job.conversation or ""
            row = self.conversation(scope, conversation_id)
            held, through = self._work.get((_place(scope, conversation_id), job.purpose), (None, 0))
            if row is None or job.incarnation != row.incarnation:
                return None
            if held and held.until > lease.now and held.holder != lease.holder:
                raise FencepostError(ErrorCode.CONVERSATION_BUSY)
            self._work[_place(scope, conversation_id), job.purpose] = (lease, through)
            return through

    def end(self, scope: Scope, job: Job, lease: WorkLease, through: int) -> None:
        with self.faults.call():
            place = (_place(scope, job.conversation or ""), job.purpose)
            held, _ = self._work.get(place, (None, 0))
            if held and held.holder == lease.holder:
                self._work[place] = (None, through)


@dataclass
class FakeQueue:
    """Implements `JobQueue`."""

    jobs: list[Job] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)

    def send(self, jobs: Sequence[Job]) -> None:
        with self.faults.call():
            self.jobs += jobs


@dataclass
class FakeRetries:
    """Implements `RetryQueue`. `due` are the messages that come again, and how much later."""

    due: list[tuple[str, timedelta]] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)

    def retry(self, receipt: str, delay: timedelta) -> None:
        with self.faults.call():
            self.due.append((receipt, delay))


def _place(scope: Scope, name: str) -> Place:
    return scope.org, scope.owner, name
