"""A conversation and what the index holds of it, over fakes: its turns make jobs as the stream does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

from fencepost.conversations.domain.messages import Conversation, Message, MessageStatus, OpenTurn
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import LayerBudgets, Site
from fencepost.identity.service import SiteService
from fencepost.jobs.domain.outbox import jobs_after
from fencepost.kernel.errors import FencepostError
from fencepost.memory.domain.message_chunks import ChunkWindow, MessageChunk, Span, chunks_of, entry_of, entry_plan
from fencepost.memory.service.message_entries import MessageEntries
from fencepost.memory.service.remember import SLICE, RememberService
from fencepost.model.domain import Role
from fencepost.queue.domain import Job, Purpose
from fencepost.queue.service import WORK_SECONDS
from fencepost.retrieval.domain.search import IndexEntry
from tests.fakes.answers import Fault, FixedClock
from tests.fakes.conversations import FakeConversations, Shelf, owned
from tests.fakes.corpus import FakeJobQueue, PortFaults
from tests.fakes.directory import FakeDirectory
from tests.fakes.index import FakeEmbedder, FakeIndex, vector_of
from tests.fakes.memories import conversation
from tests.fakes.memory import FakeJobs, Faults
from tests.fakes.parts import FakeParts
from tests.worlds.corpus_samples import NOON
from tests.worlds.jobs import scope_of

TRIES = 12


class Counted(Faults):
    """The faults of a store, as calls among those of all ports."""

    def __init__(self, faults: PortFaults, name: str) -> None:
        super().__init__()
        self._faults, self._name = faults, name

    @contextmanager
    def call(self) -> Iterator[None]:
        with self._faults.call(self._name):
            yield


def paragraphs(text: str) -> Sequence[Span]:
    """Split a message at its blank lines; the spans tile it."""
    ends = [place + 2 for place in range(len(text)) if text.startswith("\n\n", place)] + [len(text)]
    return tuple(zip([0, *ends[:-1]], ends, strict=True))


@dataclass
class RememberWorld:
    """One visitor's conversation `c1`.

    Attributes:
        due: jobs that the stream has queued.
    """

    faults: PortFaults = field(default_factory=PortFaults)
    clock: FixedClock = field(default_factory=lambda: FixedClock(NOON))
    shelf: Shelf = field(default_factory=Shelf)
    directory: FakeDirectory = field(default_factory=FakeDirectory)
    scope: Scope = field(default_factory=scope_of)
    due: deque[Job] = field(default_factory=deque)
    budgets: LayerBudgets = field(default_factory=LayerBudgets)
    slice: int = SLICE

    def __post_init__(self) -> None:
        self.conversations = FakeConversations(self.shelf, Counted(self.faults, "conversations"))
        self.jobs = FakeJobs(self._row, faults=Counted(self.faults, "jobs"))
        self.parts = FakeParts(self.shelf, self.faults)
        self.index = FakeIndex(self.faults)
        self.embedder = FakeEmbedder(self.faults)
        self.queue = FakeJobQueue(self.faults)
        self.begin()

    def begin(self, incarnation: str = "i1") -> None:
        """Make the conversation, without messages."""
        self.shelf.conversations[owned(self.scope, "c1")] = conversation("c1", site="", incarnation=incarnation)
        self.shelf.messages[owned(self.scope, "c1")] = []

    @property
    def service(self) -> RememberService:
        return RememberService(
            conversations=self.conversations,
            entries=MessageEntries(self.parts, self.index),
            embedder=self.embedder,
            jobs=self.jobs,
            queue=self.queue,
            sites=SiteService(self.directory, Site(org="", id="", key="", budgets=self.budgets)),
            chunker=paragraphs,
            clock=self.clock,
            slice=self.slice,
        )

    # What is said.

    @property
    def row(self) -> Conversation:
        return self.shelf.conversations[owned(self.scope, "c1")]

    @property
    def messages(self) -> list[Message]:
        return self.shelf.messages[owned(self.scope, "c1")]

    def turn(self, question: str = "Why?", answer: str = "So.") -> None:
        """Ask and be answered."""
        seq = self.row.next_seq
        before = self._claimed(seq)
        self.messages.append(_message(seq, question, MessageStatus.ANSWERED))
        self.messages.append(_message(seq + 1, answer, MessageStatus.COMPLETE, seq))
        self._settled(before, seq + 2)

    def talk(self, turns: int) -> None:
        """Take so many turns with words of their own."""
        for _ in range(turns):
            seq = self.row.next_seq
            self.turn(f"question {seq} about apples", f"answer {seq + 1} about pears")

    def ask(self, question: str = "Anybody?") -> int:
        """Ask without being answered, and return the question's number once it is parked."""
        seq = self.row.next_seq
        before = self._claimed(seq)
        self.messages.append(_message(seq, question, MessageStatus.PENDING))
        self._settled(before, seq + 1)
        return seq

    def answer(self, question: int, answer: str = "At last.") -> None:
        """Answer a question, for the first time or anew."""
        before = self._claimed(question)
        seq, revision = before.next_seq, 1 + sum(one.reply_to == question for one in self.messages)
        self._restate(lambda one: one.seq == question, MessageStatus.ANSWERED)
        self._restate(lambda one: one.reply_to == question, MessageStatus.SUPERSEDED)
        self.messages.append(_message(seq, answer, MessageStatus.COMPLETE, question, revision))
        self._settled(before, seq + 1)

    def hide(self, kept_from: int) -> None:
        """Hide messages, as retention does."""
        self._change(self.row, replace(self.row, kept_from=kept_from))

    def erase(self) -> None:
        """Remove the conversation and its rows, as an erasure does; its entries go too."""
        place = owned(self.scope, "c1")
        for rows in (self.shelf.conversations, self.shelf.messages, self.parts.rows):
            rows.pop(place, None)
        self.index.entries.clear()

    def come_back(self) -> None:
        """Erase the conversation, whoever works on it, and import it again as it was."""
        row, messages = self.row, self.messages
        self.erase()
        self.jobs = FakeJobs(self._row, faults=self.jobs.faults)
        self.begin("i2")
        self.shelf.conversations[owned(self.scope, "c1")] = replace(row, incarnation="i2")
        self.messages.extend(messages)

    # What is done.

    def job(self, *, revises: bool = False) -> Job:
        """Return a job of its own, as the reconciler queues one."""
        return Job(
            org=self.scope.org,
            owner=self.scope.owner,
            actor=self.scope.owner,
            purpose=Purpose.REMEMBER,
            permission_version=0,
            created_at=self.clock(),
            conversation="c1",
            incarnation=self.row.incarnation,
            revises=revises,
        )

    def run(self, *, revises: bool = False) -> None:
        """Run a job once."""
        self.service.run(self.scope, self.job(revises=revises))

    def work(self) -> int:
        """Run what is queued as the queue does, until it is done, and return how often it failed."""
        failures = 0
        while self.due or self.queue.jobs:
            job = self.due[0] if self.due else self.queue.jobs[0]
            try:
                self.service.run(self.scope, job)
            except FencepostError:
                failures += 1
                assert failures < TRIES, "the job did not come to its end"
                self.clock.advance(WORK_SECONDS)
                continue
            if self.due:
                self.due.popleft()
            else:
                self.queue.jobs.remove(job)
        return failures

    def fail_at(self, call: int, fault: Fault) -> None:
        """Let a call fail, counted from here."""
        self.faults.at(call, fault)

    def forget_work(self) -> None:
        """Forget what was done so far, to be counted anew."""
        self.embedder.embedded.clear()
        self.index.upserted.clear()
        self.parts.written.clear()

    @property
    def done(self) -> tuple[list[str], list[str], list[str]]:
        """What was embedded, indexed, and written as rows."""
        return self.embedder.embedded, self.index.upserted, self.parts.written

    # What is seen.

    def expected(self) -> dict[str, IndexEntry]:
        """Return the entries that a conversation as it stands has, worked out at once from its messages."""
        parts = [part for one in self.messages for part in chunks_of(one, self.row.kept_from, paragraphs)]
        vectors = {part.passage: vector_of(part.embedded_text) for part in parts}
        plan = entry_plan(ChunkWindow(chunks=parts, begins=True, ends=True), (), self.embedder.model.name)
        return {due.row.chunk: entry_of(self.scope, "c1", due, vectors) for due in plan.pending}

    def require_agreement(self) -> None:
        """Fail unless rows and index hold exactly what the messages say."""
        rows, expected = self.parts.rows_of(self.scope, "c1"), self.expected()
        assert [row.chunk for row in rows] == list(expected)
        assert not [row for row in rows if row.stale_id]
        assert {row.stored_id for row in rows} == set(self.index.entries)
        assert {row.chunk: self.index.entries[row.stored_id] for row in rows} == expected
        assert all(row.version == expected[row.chunk].version for row in rows)

    def _row(self, scope: Scope, conversation_id: str) -> Conversation | None:
        return self.shelf.conversations.get(owned(scope, conversation_id))

    def _claimed(self, seq: int) -> Conversation:
        turn = OpenTurn(message_id=f"q{seq}", seq=seq, holder="h", until=NOON)
        return replace(self.row, open_turn=turn)

    def _settled(self, before: Conversation, next_seq: int) -> None:
        self._change(before, replace(before, open_turn=None, next_seq=next_seq))

    def _change(self, before: Conversation, after: Conversation) -> None:
        self.shelf.conversations[owned(self.scope, "c1")] = after
        jobs = jobs_after(self.scope.org, self.scope.owner, before, after)
        self.due += [job for job in jobs if job.purpose is Purpose.REMEMBER]

    def _restate(self, which: Callable[[Message], bool], status: MessageStatus) -> None:
        self.messages[:] = [replace(one, status=status) if which(one) else one for one in self.messages]


def parts(*texts: str) -> list[MessageChunk]:
    """Return the chunks of messages with these contents, an answer after each question."""
    return [
        part
        for seq, text in enumerate(texts, start=1)
        for part in chunks_of(_message(seq, text, MessageStatus.COMPLETE), 1, paragraphs)
    ]


def _message(seq: int, content: str, status: MessageStatus, reply_to: int | None = None, revision: int = 1) -> Message:
    return Message(
        id=f"q{reply_to}.{revision}" if reply_to else f"q{seq}",
        seq=seq,
        role=Role.ASSISTANT if reply_to else Role.USER,
        content=content,
        created_at=NOON + timedelta(hours=seq),
        status=status,
        reply_to=reply_to,
    )
