"""Storage over fakes: one shelf of conversations, and the services that archive, export, import and attach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import batched

from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message, MessagePointer
from fencepost.conversations.service.attachments import AttachmentService
from fencepost.conversations.service.conversations import transcript
from fencepost.identity.domain.scope import Action, Scope, Visitor, authorize, own
from fencepost.identity.domain.sites import Retention, Site
from fencepost.identity.service import SiteService
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.lifecycle.service.archive import ArchiveService
from fencepost.lifecycle.service.exports import ExportService
from fencepost.lifecycle.service.imports import ImportService
from fencepost.lifecycle.service.retention import RetentionService
from fencepost.memory.service.message_entries import MessageEntries
from fencepost.model.domain import LayerUse
from fencepost.queue.domain import Job, Purpose
from fencepost.turns.domain.turns import fingerprint
from tests.fakes.answers import FakeKeys, FixedClock
from tests.fakes.archives import ArchivingConversations, FakeArchive, FakeAttachments, FakeImports
from tests.fakes.blobs import FakeBlobs, Faults
from tests.fakes.conversations import Shelf, owned
from tests.fakes.directory import FakeDirectory
from tests.fakes.memory import FakeJobs, FakeMemory
from tests.worlds.jobs import exchange

ALICE, BOB = Visitor("acme", "docs", "alice"), Visitor("acme", "docs", "bob")
ALICE_ELSEWHERE = Visitor("globex", "docs", "alice")
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def scope_of(caller: Visitor = ALICE, action: Action = Action.EXPORT) -> Scope:
    """Return the scope of a visitor's own data."""
    return authorize(caller, action, own(caller))


def context_of(answer: Message) -> AnswerContext:
    """Return what went into an answer: that tells it from every other."""
    return AnswerContext(
        answer_id=answer.id,
        created_at=answer.created_at,
        model="m",
        prompt_version="1",
        permission_version=0,
        layers=(LayerUse("rules", 200), LayerUse("history", 10 * answer.seq, (f"msg:{answer.id}",))),
        usage=None,
        cost_microdollars=answer.seq,
    )


class FakeExtractor:
    """Reads everything as UTF-8; `refusal` is what it says instead."""

    refusal: ErrorCode | None = None

    def text(self, content: bytes, content_type: str) -> str:
        if self.refusal:
            raise FencepostError(self.refusal)
        return content.decode()


@dataclass
class StorageWorld:
    """Everything around the services. `faults` counts the calls of all stores but the jobs'.

    Attributes:
        entries: of messages in an index; None where there is none.
    """

    clock: FixedClock = field(default_factory=lambda: FixedClock(NOON))
    shelf: Shelf = field(default_factory=Shelf)
    faults: Faults = field(default_factory=Faults)
    directory: FakeDirectory = field(default_factory=FakeDirectory)
    jobs: FakeJobs = field(default_factory=FakeJobs)
    keys: FakeKeys = field(default_factory=FakeKeys)
    extractor: FakeExtractor = field(default_factory=FakeExtractor)
    entries: MessageEntries | None = None

    @cached_property
    def blobs(self) -> FakeBlobs:
        return FakeBlobs(self.faults)

    @cached_property
    def rows(self) -> FakeArchive:
        return FakeArchive(self.shelf, self.blobs, self.faults)

    @cached_property
    def conversations(self) -> ArchivingConversations:
        return ArchivingConversations(self.shelf, archive=self.rows)

    @cached_property
    def memory(self) -> FakeMemory:
        def update(scope: Scope, row: Conversation) -> None:
            self.shelf.conversations[owned(scope, row.id)] = row

        return FakeMemory(lambda scope, name: self.shelf.conversations.get(owned(scope, name)), update)

    @cached_property
    def written(self) -> FakeImports:
        return FakeImports(self.shelf, self.blobs, self.faults)

    @cached_property
    def files(self) -> FakeAttachments:
        return FakeAttachments(faults=self.faults)

    @property
    def sites(self) -> SiteService:
        return SiteService(self.directory, Site(org="", id="", key=""))

    @property
    def archive(self) -> ArchiveService:
        return ArchiveService(
            archive=self.rows,
            blobs=self.blobs,
            sites=self.sites,
            retention=RetentionService(self.rows, self.memory, self.blobs, self.entries),
            clock=self.clock,
        )

    @property
    def exports(self) -> ExportService:
        return ExportService(
            conversations=self.conversations,
            memory=self.memory,
            blobs=self.blobs,
            jobs=self.jobs,
            keys=self.keys,
            clock=self.clock,
        )

    @property
    def imports(self) -> ImportService:
        return ImportService(
            conversations=self.conversations,
            imports=self.written,
            memory=self.memory,
            blobs=self.blobs,
            jobs=self.jobs,
            sites=self.sites,
            keys=self.keys,
            clock=self.clock,
        )

    @property
    def attachments(self) -> AttachmentService:
        return AttachmentService(
            store=self.files, blobs=self.blobs, jobs=self.jobs, extractor=self.extractor, clock=self.clock
        )

    def site(self, **retention: int) -> None:
        """Set what the site keeps."""
        self.directory.add_site(retention=Retention(**retention))

    def talk(self, scope: Scope, name: str = "c1", exchanges: int = 1, *, every: timedelta = timedelta(0)) -> None:
        """Store a conversation, its first message at noon."""
        messages = [
            one
            for number in range(exchanges)
            for one in _unique(name, exchange(2 * number + 1, f"Question {number}?", "So.", NOON + number * every))
        ]
        self.shelf.messages[owned(scope, name)] = messages
        self.shelf.conversations[owned(scope, name)] = Conversation(
            id=name,
            site="docs",
            incarnation=f"{name}-1",
            title=name.upper(),
            created_at=NOON,
            updated_at=NOON,
            next_seq=len(messages) + 1,
        )
        for one, told in batched(messages, 2, strict=True):
            pointer = MessagePointer(one.id, name, one.seq, fingerprint(one.content))
            self.shelf.pointers[owned(scope, one.id)] = pointer
            self.shelf.answers[owned(scope, one.id)] = {1: (told.seq, context_of(told))}

    def said(self, scope: Scope, name: str = "c1") -> list[Message]:
        """Return all messages as a client reads them."""
        return list(transcript(self.conversations, scope, name))

    def row(self, scope: Scope, name: str = "c1") -> Conversation:
        """Return a conversation's row."""
        return self.shelf.conversations[owned(scope, name)]

    def archive_job(self, scope: Scope, name: str = "c1") -> Job:
        """Return the job that archives a conversation."""
        return Job(
            org=scope.org,
            owner=scope.owner,
            actor=scope.owner,
            purpose=Purpose.ARCHIVE,
            permission_version=0,
            created_at=self.clock(),
            site="docs",
            conversation=name,
            incarnation=self.row(scope, name).incarnation,
        )

    def run(self, scope: Scope, work: Callable[[Scope, Job], None]) -> None:
        """Run the last job that was queued."""
        work(scope, self.jobs.queued[-1])

    def export(self, scope: Scope, name: str | None = None) -> bytes:
        """Export one conversation or all, and return the bundle."""
        record = self.exports.ask(scope, "docs", name)
        self.run(scope, self.exports.run)
        bundle = self.blobs.get(scope, f"exports/{record.id}.zip")
        assert bundle is not None
        return bundle

    def move(self, scope: Scope, name: str, site: str) -> None:
        """Put a conversation on another site."""
        self.shelf.conversations[owned(scope, name)] = replace(self.row(scope, name), site=site)

    def bring(self, scope: Scope, bundle: bytes, site: str = "docs") -> dict[str, int]:
        """Import a bundle, and return what was counted."""
        record = self.imports.take(scope, site, bundle)
        self.run(scope, self.imports.run)
        return self.imports.state(scope, record.id).progress

    def erase(self, scope: Scope, name: str) -> None:
        """Forget a conversation, as an erasure does."""
        gone = owned(scope, name)
        self.shelf.conversations.pop(gone, None)
        self.shelf.messages.pop(gone, None)
        self.rows.stored.pop(gone, None)
        for place in [key for key, one in self.shelf.pointers.items() if one.conversation_id == name]:
            if place[:2] == gone[:2]:
                del self.shelf.pointers[place]
                self.shelf.answers.pop(place, None)


def _unique(name: str, messages: list[Message]) -> list[Message]:
    """Give messages ids that no other conversation has."""
    return [replace(message, id=f"{name}-{message.id}") for message in messages]
