"""A site on the emulated cloud that keeps messages for some days, and the time that passes there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from fencepost.conversations.rows import messages as conversations_keys
from fencepost.conversations.service.conversations import ConversationService
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Operator, Resource, authorize
from fencepost.identity.domain.sites import Retention
from fencepost.identity.service import SiteService
from fencepost.jobs.dynamodb.outbox import jobs_of
from fencepost.jobs.service.runner import action_of
from fencepost.kernel.aws import keys as aws_keys
from fencepost.kernel.aws.rows import Item
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.lifecycle.dynamodb.archive import DynamoDbArchive
from fencepost.lifecycle.service.archive import ArchiveService
from fencepost.lifecycle.service.retention import RetentionService
from fencepost.memory.dynamodb.memory import DynamoDbMemoryStore
from fencepost.queue.domain import Job
from tests.integration.turn_stores import StoredTurns
from tests.worlds.chat import NOON
from tests.worlds.turn import DEFAULTS, Process

DAYS = 30
DAY = timedelta(days=1)
TTL = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
"""Who removes rows whose time is over, as the stream's records name it."""


@dataclass
class Town:
    """One visitor of a site that keeps messages for so many days, and the archive's job."""

    stored: StoredTurns

    def __post_init__(self) -> None:
        self.keep(DAYS)
        self.world, self.tables = self.stored.world, self.stored.tables
        self.scope = self.world.scope()

    def keep(self, days: int) -> None:
        self.stored.world.directory.add_site(retention=Retention(days=days))

    @property
    def archive(self) -> DynamoDbArchive:
        return DynamoDbArchive(self.tables.conversations, self.stored.blobs, lambda: self.tables.client)

    @property
    def service(self) -> ConversationService:
        return ConversationService(self.world.conversations, self.world.clock)

    def work(self, job: Job) -> None:
        """Do the job as the worker does: with the scope of its actor."""
        assert job.actor == "operator"
        scope = authorize(Operator(job.org), action_of(job.purpose), Resource(job.org, job.owner))
        memory = DynamoDbMemoryStore(self.tables.conversations, lambda: self.tables.client)
        ArchiveService(
            archive=self.archive,
            blobs=self.stored.blobs,
            sites=SiteService(self.world.directory, DEFAULTS),
            retention=RetentionService(self.archive, memory, self.stored.blobs),
            clock=self.world.clock,
        ).run(scope, job)

    def row(self, key: aws_keys.Key) -> Item:
        return self.tables.client.get_item(TableName=self.tables.conversations, Key=key)["Item"]

    def pointer(self, message_id: str = "m1") -> Item:
        return self.row(conversations_keys.pointer_row(self.scope, message_id))

    def ends(self, conversation: str) -> list[float]:
        """Return when the rows of messages end, in days from noon."""
        partition = self.tables.rows(keys.conversation(self.scope, conversation))
        return [days_of(row) for row in partition if row["sk"]["S"].startswith("m#")]

    def expire(self) -> list[Job]:
        """Remove what is past its time, as DynamoDB's TTL does, and return what the relay makes of it."""
        jobs, now = list[Job](), self.world.clock().timestamp()
        owner = self.tables.rows(keys.owner(self.scope))
        ids = [row["id"]["S"] for row in owner if row["sk"]["S"].startswith("conv#")]
        talks = [row for one in ids for row in self.tables.rows(keys.conversation(self.scope, one))]
        for row in [*owner, *talks]:
            if "expires_at" in row and float(row["expires_at"]["N"]) < now:
                key = aws_keys.key(row["pk"]["S"], row["sk"]["S"])
                self.tables.client.delete_item(TableName=self.tables.conversations, Key=key)
                change = {"Keys": key, "OldImage": row}
                jobs += jobs_of({"eventName": "REMOVE", "userIdentity": TTL, "dynamodb": change})
        return jobs

    def left(self, conversation: str) -> list[str]:
        """Return the sort keys of all rows, and the names of all objects."""
        rows = self.tables.rows(keys.owner(self.scope)) + self.tables.rows(keys.conversation(self.scope, conversation))
        return [row["sk"]["S"] for row in rows] + list(self.stored.blobs.names(self.scope, ""))


def days_of(row: Item, since: datetime = NOON) -> float:
    return (float(row["expires_at"]["N"]) - since.timestamp()) / DAY.total_seconds()


def dying() -> Process:
    """Return a process that dies with its question stored."""
    return Process(("turns.load", "before"))


def missing(call: Callable[[], object]) -> bool:
    with pytest.raises(FencepostError) as caught:
        call()
    return caught.value.code is ErrorCode.NOT_FOUND
