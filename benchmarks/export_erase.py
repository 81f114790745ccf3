"""Duration of export, import, archiving and erasure of a long conversation, on the emulated cloud.

The baseline is ten times the duration for a tenth of the messages, so linear growth has a ratio of 1.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from benchmarks.report import Row, print_table
from fencepost.blobs import domain as objects
from fencepost.blobs.s3 import S3BlobStore
from fencepost.conversations.domain.messages import Conversation, Message, MessagePointer, MessageStatus, answer_id
from fencepost.conversations.dynamodb.conversations import DynamoDbConversations
from fencepost.identity.domain.scope import Action, Scope, Visitor, authorize, own
from fencepost.identity.domain.sites import Site
from fencepost.identity.service import SiteService
from fencepost.kernel.aws.secrets import SecretKeys
from fencepost.lifecycle.domain.bundle_check import AskedQuestion
from fencepost.lifecycle.dynamodb.archive import DynamoDbArchive
from fencepost.lifecycle.dynamodb.eraser import DynamoDbEraser
from fencepost.lifecycle.dynamodb.imports import DynamoDbImports
from fencepost.lifecycle.ports import MOST_WRITTEN
from fencepost.lifecycle.service.archive import ArchiveService
from fencepost.lifecycle.service.exports import ExportService
from fencepost.lifecycle.service.imports import ImportService
from fencepost.lifecycle.service.retention import RetentionService
from fencepost.memory.dynamodb.memory import DynamoDbMemoryStore
from fencepost.model.domain import Role
from fencepost.queue.domain import Job, Purpose
from fencepost.queue.dynamodb import DynamoDbJobStore
from fencepost.queue.service import new_record
from fencepost.turns.domain.turns import fingerprint
from local import emulator, processes

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MANY, FEW = 10_000, 1_000
ANSWER = "Posts stand two metres apart, and each of them a third of its length in the ground. " * 6
SWEPT_AT_ONCE = 5_000
_LATER = timedelta(seconds=1)


class NoSites:
    """An empty directory: only the deployment's settings apply."""

    def site(self, org: str, site_id: str) -> None:
        """Return no site."""


@dataclass
class Bench:
    """One owner with separate stores.

    Attributes:
        now: the clock; it is advanced where an erasure must be later than the data that it erases.
    """

    table: str
    blobs: S3BlobStore
    client: DynamoDBClient
    now: datetime = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __post_init__(self) -> None:
        caller = Visitor("acme", "docs", str(uuid4()))
        self.scope = authorize(caller, Action.EXPORT, own(caller))
        self.conversations = DynamoDbConversations(self.table, self.blobs, self._client)
        self.imports = DynamoDbImports(self.table, self.blobs, self._client)
        self.archive = DynamoDbArchive(self.table, self.blobs, self._client)
        self.eraser = DynamoDbEraser(self.table, self.blobs, self._client)
        self.memory = DynamoDbMemoryStore(self.table, self._client)
        self.jobs = DynamoDbJobStore(self.table, self._client)
        self.sites = SiteService(NoSites(), Site(org="", id="", key=""))  # type: ignore[arg-type]  # only sites are asked for
        self.keys = SecretKeys("signing", read=lambda *_: "a signing secret", read_previous=lambda *_: "")

    def _client(self) -> DynamoDBClient:
        return self.client

    def talk(self, count: int) -> None:
        """Store a conversation with the given number of messages."""
        record = new_record(self.scope, Purpose.IMPORT, self.now)
        row = Conversation(
            id="talk",
            site="docs",
            incarnation="1",
            title="Fences",
            created_at=self.now,
            updated_at=self.now,
            next_seq=count + 1,
        )
        self.imports.begin(self.scope, row.id, record.job, row.incarnation)
        messages = [message(seq, self.now) for seq in range(1, count + 1)]
        for start in range(0, count, MOST_WRITTEN):
            some = messages[start : start + MOST_WRITTEN]
            self.imports.write_messages(self.scope, row.id, row.incarnation, some)
            self.imports.write_questions(self.scope, row.id, row.incarnation, list(map(asked, some[::2])))
        self.imports.finish(self.scope, row)

    def export(self) -> bytes:
        """Export everything, as the job does, and return the bundle."""
        service = ExportService(
            conversations=self.conversations,
            memory=self.memory,
            blobs=self.blobs,
            jobs=self.jobs,
            keys=self.keys,
            clock=lambda: self.now,
        )
        record = service.ask(self.scope, "docs")
        service.run(self.scope, record.job)
        return self.blobs.get(self.scope, objects.export_bundle(record.id)) or b""

    def bring_back(self, bundle: bytes) -> None:
        """Import a bundle, as the request and the job do."""
        service = ImportService(
            conversations=self.conversations,
            imports=self.imports,
            memory=self.memory,
            blobs=self.blobs,
            jobs=self.jobs,
            sites=self.sites,
            keys=self.keys,
            clock=lambda: self.now,
        )
        service.run(self.scope, service.take(self.scope, "docs", bundle).job)

    def archive_old(self) -> None:
        """Archive old messages, as the job does."""
        row = self.conversations.get(self.scope, "talk")
        assert row is not None
        service = ArchiveService(
            archive=self.archive,
            blobs=self.blobs,
            sites=self.sites,
            retention=RetentionService(self.archive, self.memory, self.blobs),
            clock=lambda: self.now,
        )
        service.run(self.scope, archive_job(self.scope, row, self.now))

    def erase(self) -> None:
        """Erase all of the owner's data, and check that nothing is left."""
        self.now += _LATER
        self.eraser.forget_owner(self.scope, self.now)
        while self.eraser.sweep(self.scope, None, SWEPT_AT_ONCE):
            pass
        assert not self.eraser.leftovers(self.scope, None)
        self.now += _LATER


def message(seq: int, now: datetime) -> Message:
    """Return a question for an odd number, and its answer for an even one."""
    question = f"q{seq - 1 + seq % 2}"
    if seq % 2:
        return Message(
            id=question, seq=seq, role=Role.USER, content="How far?", created_at=now, status=MessageStatus.ANSWERED
        )
    return Message(
        id=answer_id(question, 1),
        seq=seq,
        role=Role.ASSISTANT,
        content=ANSWER,
        created_at=now,
        status=MessageStatus.COMPLETE,
        reply_to=seq - 1,
    )


def asked(question: Message) -> AskedQuestion:
    """Return the pointer to a question."""
    pointer = MessagePointer(question.id, "talk", question.seq, fingerprint(question.content))
    return AskedQuestion(pointer, {1: question.seq + 1})


def archive_job(scope: Scope, row: Conversation, now: datetime) -> Job:
    """Return the job that archives a conversation."""
    return Job(
        org=scope.org,
        owner=scope.owner,
        actor=scope.owner,
        purpose=Purpose.ARCHIVE,
        permission_version=0,
        created_at=now,
        site="docs",
        conversation=row.id,
        incarnation=row.incarnation,
    )


def main() -> None:
    """Print the table."""
    with emulated() as bench:
        few = times(bench(), FEW)
        many = times(bench(), MANY)
    print_table(
        Row(f"{step} {MANY:,} messages", f"{many[step]:.2f} s", f"{FEW:,}: {few[step]:.2f} s", _growth(step, few, many))
        for step in many
    )


def _growth(step: str, few: dict[str, float], many: dict[str, float]) -> str:
    return f"{many[step] / few[step] / (MANY / FEW):.2f}"


def times(bench: Bench, count: int) -> dict[str, float]:
    """Return the seconds of each step for a conversation with the given number of messages."""
    bench.talk(count)
    taken = {"export": timed(bench.export), "archive the old of": timed(bench.archive_old)}
    taken["export, mostly archived,"] = timed(bench.export)
    bundle = bench.export()
    taken["erase"] = timed(bench.erase)
    taken["import"] = timed(lambda: bench.bring_back(bundle))
    return taken


def timed(run: Callable[[], object]) -> float:
    """Return the seconds of one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


@contextmanager
def emulated() -> Iterator[Callable[[], Bench]]:
    """Start the emulator for the duration of the benchmark, and yield a factory of new stores on it."""
    os.environ.update(emulator.CREDENTIALS)
    with tempfile.TemporaryDirectory() as folder:
        running = emulator.start(Path(folder), processes.free_port())
        try:
            yield lambda: stores(running)
        finally:
            running.stop()


def stores(running: emulator.Emulator) -> Bench:
    """Create a table like the template's, and a bucket."""
    client, s3, name = running.client("dynamodb"), running.client("s3"), f"conversations-{uuid4()}"
    keyed = {"pk": "HASH", "sk": "RANGE"}
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": part, "AttributeType": "S"} for part in (*keyed, "updated_at")],
        KeySchema=[{"AttributeName": part, "KeyType": kind} for part, kind in keyed.items()],
        LocalSecondaryIndexes=[
            {
                "IndexName": "by_update",
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "updated_at", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    s3.create_bucket(Bucket=name)
    return Bench(name, S3BlobStore(name, lambda: s3), client)


if __name__ == "__main__":
    main()
