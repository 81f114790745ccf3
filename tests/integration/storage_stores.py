"""All stores of messages on the emulated DynamoDB and S3, and the services over them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from uuid import uuid4

from fencepost.blobs.s3 import S3BlobStore
from fencepost.conversations.domain.messages import Conversation, Message, MessagePointer
from fencepost.conversations.dynamodb.attachments import DynamoDbAttachments
from fencepost.conversations.dynamodb.conversations import DynamoDbConversations
from fencepost.conversations.service.conversations import transcript
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import Retention, Site
from fencepost.identity.service import SiteService
from fencepost.lifecycle.domain.bundle_check import AskedQuestion
from fencepost.lifecycle.dynamodb.archive import DynamoDbArchive
from fencepost.lifecycle.dynamodb.eraser import DynamoDbEraser
from fencepost.lifecycle.dynamodb.imports import DynamoDbImports
from fencepost.lifecycle.service.archive import ArchiveService
from fencepost.lifecycle.service.exports import ExportService
from fencepost.lifecycle.service.imports import ImportService
from fencepost.lifecycle.service.retention import RetentionService
from fencepost.memory.dynamodb.memory import DynamoDbMemoryStore
from fencepost.queue.domain import Job, Purpose
from fencepost.queue.dynamodb import DynamoDbJobStore
from local.emulator import Emulator
from tests.conformance.samples import visitor_scope
from tests.fakes.answers import FakeKeys, FixedClock
from tests.fakes.directory import FakeDirectory
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables
from tests.worlds.jobs import exchange
from tests.worlds.storage import context_of

ALICE, BOB = visitor_scope(), visitor_scope(visitor="v2")
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@dataclass
class Stores:
    """All stores on tables and a bucket of their own."""

    tables: ConversationTables
    blobs: S3BlobStore

    @property
    def imports(self) -> DynamoDbImports:
        return DynamoDbImports(self.tables.conversations, self.blobs, lambda: self.tables.client)

    @property
    def archive(self) -> DynamoDbArchive:
        return DynamoDbArchive(self.tables.conversations, self.blobs, lambda: self.tables.client)

    @property
    def conversations(self) -> DynamoDbConversations:
        return DynamoDbConversations(self.tables.conversations, self.blobs, lambda: self.tables.client, self.clock)

    @property
    def eraser(self) -> DynamoDbEraser:
        return DynamoDbEraser(self.tables.conversations, self.blobs, lambda: self.tables.client)

    @property
    def memory(self) -> DynamoDbMemoryStore:
        return DynamoDbMemoryStore(self.tables.conversations, lambda: self.tables.client)

    @property
    def jobs(self) -> DynamoDbJobStore:
        return DynamoDbJobStore(self.tables.conversations, lambda: self.tables.client)

    @property
    def attachments(self) -> DynamoDbAttachments:
        return DynamoDbAttachments(self.tables.conversations, lambda: self.tables.client)

    @cached_property
    def clock(self) -> FixedClock:
        return FixedClock(NOON)

    def service(self, **retention: int) -> ArchiveService:
        """Return the service that archives on a site with these rules."""
        return ArchiveService(
            archive=self.archive,
            blobs=self.blobs,
            sites=sites(**retention),
            retention=RetentionService(self.archive, self.memory, self.blobs),
            clock=self.clock,
        )

    def exporting(self) -> ExportService:
        return ExportService(
            conversations=self.conversations,
            memory=self.memory,
            blobs=self.blobs,
            jobs=self.jobs,
            keys=FakeKeys(),
            clock=self.clock,
        )

    def importing(self, **retention: int) -> ImportService:
        return ImportService(
            conversations=self.conversations,
            imports=self.imports,
            memory=self.memory,
            blobs=self.blobs,
            jobs=self.jobs,
            sites=sites(**retention),
            keys=FakeKeys(),
            clock=self.clock,
        )

    def write(self, scope: Scope, messages: list[Message], name: str = "c1", **fields: object) -> Conversation:
        """Store a whole conversation, as an import does."""
        job = job_of(scope)
        incarnation = self.imports.begin(scope, name, job, f"{name}-1")
        assert incarnation
        for start in range(0, len(messages), 50):
            assert self.imports.write_messages(scope, name, incarnation, messages[start : start + 50])
        for start in range(0, len(messages), 50):
            asked = [question(message, name) for message in messages[start : start + 50 : 2]]
            assert self.imports.write_questions(scope, name, incarnation, asked)
        row = Conversation(
            id=name,
            site="docs",
            incarnation=incarnation,
            title="",
            created_at=NOON,
            updated_at=NOON,
            next_seq=len(messages) + 1,
        )
        assert self.imports.finish(scope, row)
        return row

    def said(self, scope: Scope, name: str = "c1") -> list[Message]:
        return list(transcript(self.conversations, scope, name))

    def leftovers(self) -> list[str]:
        """Return the sort keys of all rows but tombstones."""
        rows = self.tables.rows(keys.owner(ALICE)) + self.tables.rows(keys.conversation(ALICE, "c1"))
        return [row["sk"]["S"] for row in rows if not row["sk"]["S"].startswith(("gone#", "erased"))]


def sites(**retention: int) -> SiteService:
    """Return a site with these rules."""
    directory = FakeDirectory()
    directory.add_site(retention=Retention(**retention))
    return SiteService(directory, Site(org="", id="", key=""))


def job_of(scope: Scope, record: str = "j1", made_at: datetime = NOON, purpose: Purpose = Purpose.IMPORT) -> Job:
    return Job(
        org=scope.org,
        owner=scope.owner,
        actor=scope.owner,
        purpose=purpose,
        permission_version=0,
        created_at=made_at,
        site="docs",
        record=record,
        conversation="c1" if purpose is Purpose.ARCHIVE else None,
        incarnation="c1-1" if purpose is Purpose.ARCHIVE else None,
    )


def talk(exchanges: int, *, every: timedelta = timedelta(0)) -> list[Message]:
    return [
        one
        for number in range(exchanges)
        for one in exchange(2 * number + 1, f"Question {number}?", "So.", NOON + number * every)
    ]


def question(message: Message, name: str) -> AskedQuestion:
    pointer = MessagePointer(message.id, name, message.seq, "0" * 64)
    answer = replace(message, id=f"{message.id}.1", seq=message.seq + 1)
    return AskedQuestion(pointer, {1: answer.seq}, {1: context_of(answer)})


def archived(stores: Stores, **retention: int) -> None:
    stores.service(**retention).run(ALICE, job_of(ALICE, purpose=Purpose.ARCHIVE))


def exported(stores: Stores) -> bytes:
    service = stores.exporting()
    record = service.ask(ALICE, "docs")
    service.run(ALICE, record.job)
    bundle = stores.blobs.get(ALICE, f"exports/{record.id}.zip")
    assert bundle is not None
    return bundle


def open_stores(emulator: Emulator) -> Stores:
    """Make tables and a bucket, empty."""
    bucket = f"conversations-{uuid4()}"
    client = emulator.client("s3")
    client.create_bucket(Bucket=bucket)
    return Stores(open_conversation_tables(emulator.endpoint_url), S3BlobStore(bucket, lambda: client))
