"""Stores that are interrupted before one of their requests, and the two looks of an erasure."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from fencepost.conversations.domain.messages import Conversation
from fencepost.conversations.dynamodb.conversations import DynamoDbConversations
from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import ConversationsTableRow
from fencepost.kernel.errors import FencepostError
from fencepost.lifecycle.dynamodb.archive import DynamoDbArchive
from fencepost.lifecycle.dynamodb.eraser import DynamoDbEraser
from fencepost.lifecycle.dynamodb.imports import DynamoDbImports
from fencepost.lifecycle.dynamodb.removal import Removal
from fencepost.memory.dynamodb.chunks import DynamoDbMessageChunks
from fencepost.memory.dynamodb.memory import DynamoDbMemoryStore
from fencepost.queue import rows as queue_rows
from fencepost.queue.domain import Purpose
from fencepost.queue.dynamodb import DynamoDbJobStore
from fencepost.turns.dynamodb.turns import DynamoDbTurnStore
from tests.integration.erasure_content import DOOMED, LATER, doomed_row
from tests.integration.erasure_world import ErasureWorld, job_record
from tests.integration.tables import connect
from tests.worlds.thoroughness import EXHAUSTIVE

PLENTY = 10_000
# An erasure makes many requests: every eleventh is tried, unless EXHAUSTIVE asks for each.
STEP = 1 if EXHAUSTIVE else 11


@dataclass
class Stores:
    """Every store that writes, on a client that can be interrupted before its n-th request."""

    world: ErasureWorld
    scope: Scope
    row: Conversation
    interrupt_at: int | None = None
    interruption: Callable[[], object] = lambda: None
    requests: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.client = connect(self.world.tables.client.meta.endpoint_url)
        self.client.meta.events.register("before-call.dynamodb", self.count)

    def count(self, **_: Any) -> None:
        """Be told of the next request."""
        self.requests += 1
        if self.requests - 1 == self.interrupt_at:
            self.interruption()

    @property
    def table(self) -> str:
        return self.world.tables.conversations

    @property
    def turns(self) -> DynamoDbTurnStore:
        return DynamoDbTurnStore(self.table, self.world.tables.directory, self.world.blobs, lambda: self.client)

    @property
    def conversations(self) -> DynamoDbConversations:
        return DynamoDbConversations(self.table, self.world.blobs, lambda: self.client)

    @property
    def memory(self) -> DynamoDbMemoryStore:
        return DynamoDbMemoryStore(self.table, lambda: self.client)

    @property
    def jobs(self) -> DynamoDbJobStore:
        return DynamoDbJobStore(self.table, lambda: self.client, lambda: LATER)

    @property
    def archive(self) -> DynamoDbArchive:
        return DynamoDbArchive(self.table, self.world.blobs, lambda: self.client)

    @property
    def parts(self) -> DynamoDbMessageChunks:
        return DynamoDbMessageChunks(self.table, lambda: self.client)

    @property
    def imports(self) -> DynamoDbImports:
        return DynamoDbImports(self.table, self.world.blobs, lambda: self.client)

    @property
    def eraser(self) -> DynamoDbEraser:
        return DynamoDbEraser(self.table, self.world.blobs, lambda: self.client)


type Writer = Callable[[Stores], object]


def planted(world: ErasureWorld, scope: Scope, moment: int, interruption: Callable[[], object]) -> Stores:
    """Return stores of a fresh conversation that are interrupted at a moment."""
    _cleared(world)
    row = world.plant(scope, DOOMED, turns=1)
    world.attach(scope, "file")
    world.put(replace(job_record(scope, "export", Purpose.EXPORT)), queue_rows.job_row(scope, "export"))
    return Stores(world, scope, row, moment, interruption)


def uninterrupted(world: ErasureWorld, scope: Scope) -> Stores:
    """Return stores of what is there, that nothing interrupts."""
    return Stores(world, scope, doomed_row())


def finished(stores: Stores, act: Writer) -> bool:
    """Run, and tell whether it came to its end before the moment of the interruption."""
    quietly(stores, act)
    assert stores.interrupt_at is not None
    return stores.requests <= stores.interrupt_at


def quietly(stores: Stores, act: Writer) -> None:
    # A writer may fail, as long as it leaves nothing.
    with suppress(FencepostError):
        act(stores)


def second_look(world: ErasureWorld, scope: Scope, conversation_id: str | None) -> None:
    world.eraser.sweep(scope, conversation_id, PLENTY)
    assert world.eraser.leftovers(scope, conversation_id) == {}


def left(world: ErasureWorld, scope: Scope) -> list[str]:
    rows, stored = world.everything()
    staying = ("gone#", "work#facts", "erased")
    return [f"{pk} {sk}" for pk, sk in rows if not sk.startswith(staying)] + sorted(stored)


def _cleared(world: ErasureWorld) -> None:
    rows, stored = world.everything()
    Removal(world.tables.conversations, lambda: world.tables.client).remove(
        [ConversationsTableRow.key(*row) for row in rows]
    )
    for name in stored:
        world.s3.delete_object(Bucket=world.bucket, Key=name)
