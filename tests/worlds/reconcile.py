"""Documents and conversations of two organisations over fakes, with one index, one queue, and faults at every call."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from fencepost.blobs import domain as objects
from fencepost.conversations.domain.messages import Conversation
from fencepost.documents.domain.documents import SETTLES, ChunkRow, Document, DocumentState
from fencepost.documents.domain.entries import entry_of, fingerprint
from fencepost.documents.service.document_jobs import document_job
from fencepost.identity.domain.scope import Action, Operator, Resource, Scope, authorize
from fencepost.identity.service import SiteService
from fencepost.jobs.domain.index_diff import Finding
from fencepost.jobs.domain.outbox import jobs_after
from fencepost.jobs.service.due_documents import DueDocuments
from fencepost.jobs.service.index_diff import DiffPage, DiffSources
from fencepost.jobs.service.orphans import OrphanRemoval
from fencepost.jobs.service.reconciler import Reconciler
from fencepost.jobs.service.repair import DocumentRepair
from fencepost.jobs.service.runner import JobHandler
from fencepost.kernel.errors import FencepostError
from fencepost.memory.service.message_entries import MessageEntries
from fencepost.memory.service.remember import RememberService
from fencepost.queue.domain import Job, Purpose
from fencepost.queue.service import WORK_SECONDS
from fencepost.retrieval.domain.search import IndexEntry
from tests.fakes.answers import FixedClock
from tests.fakes.conversations import FakeConversations, Owned, Shelf, owned
from tests.fakes.corpus import operator
from tests.fakes.directory import FakeDirectory
from tests.fakes.index import FakeEmbedder
from tests.fakes.memories import FakeMessageHits, conversation, message
from tests.fakes.memory import FakeJobs
from tests.fakes.parts import FakeParts
from tests.fakes.reconcile import FakeReconcileStore, FakeRegistry, RandomFaults
from tests.worlds.corpus import CorpusWorld
from tests.worlds.corpus_samples import document
from tests.worlds.remember import Counted, paragraphs
from tests.worlds.turn import DEFAULTS

ATTEMPTS = 5
"""Of a job, before it goes to the dead letters."""


@dataclass
class ReconcileWorld:
    """Everything that index and tables are made of.

    Attributes:
        tried: how often each queued job has failed; those that fail too often are dropped.
    """

    faults: RandomFaults = field(default_factory=RandomFaults)
    clock: FixedClock = field(default_factory=FixedClock)
    shelf: Shelf = field(default_factory=Shelf)
    tried: Counter[Job] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.documents = CorpusWorld(faults=self.faults, clock=self.clock)
        self.index, self.queue = self.documents.index, self.documents.queue
        self.parts = FakeParts(self.shelf, self.faults)
        self.conversations = FakeConversations(self.shelf, Counted(self.faults, "conversations"))
        self.work = FakeJobs(lambda scope, one: self.shelf.conversations.get(owned(scope, one)))
        self.work.faults = Counted(self.faults, "jobs")
        self.registry, self.progress = FakeRegistry(self.faults), FakeReconcileStore(self.faults)

    # What works.

    @property
    def model(self) -> str:
        return self.documents.embedder.model.name

    @property
    def reconciler(self) -> Reconciler:
        sources = DiffSources(
            index=self.index,
            corpus=self.documents.store,
            conversations=self.conversations,
            parts=self.parts,
            remembered=self.parts,
            messages=FakeMessageHits(self.shelf, self.parts, self.faults),
            model=self.model,
            clock=self.clock,
        )
        return Reconciler(
            registry=self.registry, store=self.progress, sources=sources, queue=self.queue, clock=self.clock
        )

    @property
    def repair(self) -> DocumentRepair:
        world = self.documents
        return DocumentRepair(
            store=world.store, versions=world.versions, queue=self.queue, clock=self.clock, slice=world.slice
        )

    @property
    def remember(self) -> RememberService:
        return RememberService(
            conversations=self.conversations,
            entries=MessageEntries(self.parts, self.index),
            embedder=self.documents.embedder,
            jobs=self.work,
            queue=self.queue,
            sites=SiteService(FakeDirectory(), DEFAULTS),
            chunker=paragraphs,
            clock=self.clock,
        )

    def perform(self, job: Job) -> None:
        """Run a job once."""
        scope = authorize(Operator(job.org), Action.ADMINISTER, Resource(job.org, job.owner))
        orphans = OrphanRemoval(self.documents.versions.rows, self.conversations, self.clock)
        handlers: dict[Purpose, JobHandler] = {
            Purpose.INGEST: self.documents.ingest.run,
            Purpose.REMOVE_DOCUMENT: self.documents.removal.run,
            Purpose.REPAIR: self.repair.run,
            Purpose.REMOVE_STRAYS: orphans.run,
            Purpose.REMEMBER: self.remember.run,
        }
        handlers[job.purpose](scope, job)

    def deliver(self, place: int = 0) -> None:
        """Run one of the queued jobs, which comes back or is dropped where it fails."""
        job = self.queue.jobs.pop(place)
        try:
            self.perform(job)
        except FencepostError:
            self.tried[job] += 1
            if self.tried[job] < ATTEMPTS:
                self.queue.jobs.append(job)

    def settle(self) -> None:
        """Run all that is queued, as patiently as the queue does."""
        for _ in range(ATTEMPTS):
            jobs, waiting = deque(self.queue.jobs), list[Job]()
            self.queue.jobs.clear()
            while jobs:
                job = jobs.popleft()
                try:
                    self.perform(job)
                except FencepostError:
                    waiting.append(job)
                jobs += self.queue.jobs
                self.queue.jobs.clear()
            if not waiting:
                return
            self.clock.advance(WORK_SECONDS)
            self.queue.jobs += waiting
        raise AssertionError(f"jobs do not come to their end: {self.queued()}")

    def queue_due(self) -> None:
        """Queue what is due, as the schedule does."""
        agenda = self.documents.store
        list(DueDocuments(agenda=agenda, store=agenda, queue=self.queue, clock=self.clock).run())

    def reconcile(self) -> list[DiffPage]:
        """Make one run, some time after the last change."""
        self.clock.advance(SETTLES.total_seconds())
        return list(self.reconciler.run())

    def found(self) -> Counter[Finding]:
        """Make one run and return what it found."""
        return sum((looked.findings for looked in self.reconcile()), Counter[Finding]())

    def queued(self) -> list[tuple[str, Purpose, str | None]]:
        """Return organisation, purpose and subject of the queued jobs."""
        return [(job.org, job.purpose, job.document or job.conversation) for job in self.queue.jobs]

    # What happens.

    def write(self, text: str, document_id: str = "d1", org: str = "acme", **fields: object) -> None:
        """Store a document's text, to be read, as an admin does."""
        place, scope = (org, document_id), operator(org)
        known = self.documents.store.documents.get(place) or document(document_id, org=org)
        wanted: dict[str, object] = {"state": DocumentState.QUEUED, "updated_at": self.clock(), **fields}
        self.documents.store.documents[place] = replace(known, **wanted)  # type: ignore[arg-type]  # fields by name
        self.documents.blobs.inner.put(scope, objects.document_given(document_id), text.encode(), "text/plain")
        self._send(document_job(scope, document_id, Purpose.INGEST, self.clock))

    def remove(self, document_id: str = "d1", org: str = "acme") -> None:
        """Remove a document, as an admin does."""
        known = self.documents.store.documents[org, document_id]
        removed = replace(known, state=DocumentState.REMOVED, updated_at=self.clock())
        self.documents.store.documents[org, document_id] = removed
        self._send(document_job(operator(org), document_id, Purpose.REMOVE_DOCUMENT, self.clock))

    def say(
        self, question: str, answer: str, conversation_id: str = "c1", owner: str = "v1", org: str = "acme"
    ) -> None:
        """Take a turn of a conversation, which begins with it where there is none."""
        scope = owner_scope(org, owner)
        before = self.shelf.conversations.get(owned(scope, conversation_id))
        row = before or self._begun(conversation_id)
        rows = self.shelf.messages.setdefault(owned(scope, conversation_id), [])
        said = enumerate((question, answer), row.next_seq)
        rows += [message(row.incarnation, seq, text, self.clock()) for seq, text in said]
        self._change(scope, before, replace(row, next_seq=row.next_seq + 2, updated_at=self.clock()))

    def hide(self, place: Owned, messages: int) -> None:
        """Hide the first messages of a conversation, as retention does: their entries and rows go before they do."""
        row = self.shelf.conversations[place]
        kept_from = min(row.next_seq, row.kept_from + messages)
        self._change(owner_scope(*place[:2]), row, replace(row, kept_from=kept_from))

    def erase(self, place: Owned) -> None:
        """Erase a conversation. Where that fails halfway, what is left of it can be read by nobody."""
        org, owner, conversation_id = place
        self.shelf.conversations.pop(place)
        self.shelf.messages.pop(place)
        with suppress(FencepostError):
            MessageEntries(self.parts, self.index).forget_all(owner_scope(org, owner), conversation_id)

    def change_model(self, name: str) -> None:
        """Use another embedding model from now on."""
        self.documents.embedder = FakeEmbedder(self.faults, name)

    # What is seen.

    def require_agreement(self) -> None:
        """Fail unless each current row has one entry, which is as it would be made now, and each entry its row."""
        expected = dict[str, IndexEntry]()
        for (org, _), row in self.documents.store.documents.items():
            for chunk in self._current(org, row):
                assert (chunk.model, chunk.stale_id) == (self.model, "")
                assert chunk.stored_id not in expected
                expected[chunk.stored_id] = entry_of(row, chunk)
        assert {one: entry for one, entry in self.index.entries.items() if entry.kind == "document"} == expected
        known = {
            part.stored_id: (org, owner, parent, part.chunk, part.version, self.model)
            for (org, owner, parent), rows in self.parts.rows.items()
            for part in rows.values()
            if (org, owner, parent) in self.shelf.conversations
        }
        assert known == {
            one: (entry.org, entry.owner, entry.parent, entry.chunk, entry.version, entry.model)
            for one, entry in self.index.entries.items()
            if entry.kind == "message"
        }
        for place, rows in self.parts.rows.items():
            # Of a conversation that never had any, nobody can tell whether it should.
            if rows and (talk := self.shelf.conversations.get(place)):
                said = {one.seq for one in self.shelf.messages[place] if one.seq >= talk.kept_from}
                assert said == {seq for seq, _ in rows}

    def _current(self, org: str, row: Document) -> Iterator[ChunkRow]:
        if row.state is DocumentState.REMOVED:
            return
        assert row.entry in ("", fingerprint(row, self.model))
        rows = self.documents.store.rows_of(org, row.id)
        assert all(chunk.is_part_of(row.version) for chunk in rows)
        yield from rows

    def _begun(self, conversation_id: str) -> Conversation:
        now, incarnation = self.clock(), f"i{len(self.faults.calls)}"
        return conversation(conversation_id, site="", incarnation=incarnation, created_at=now, updated_at=now)

    def _change(self, scope: Scope, before: Conversation | None, after: Conversation) -> None:
        self.shelf.conversations[owned(scope, after.id)] = after
        for job in jobs_after(scope.org, scope.owner, before, after):
            if job.purpose is Purpose.REMEMBER:
                self._send(job)

    def _send(self, job: Job) -> None:
        # What is lost on the way here, the schedule and the reconciler have to find.
        with suppress(FencepostError):
            self.queue.send([job])


def owner_scope(org: str, owner: str) -> Scope:
    """Return the scope of an owner's data, as jobs have it."""
    return authorize(Operator(org), Action.WRITE, Resource(org, owner))
