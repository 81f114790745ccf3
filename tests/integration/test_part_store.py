"""Rows of message chunks on the emulated DynamoDB: batches, lost answers, and writers beside retention.

What every `MessageChunkStore` does is in `tests.conformance.parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count

import pytest

from fencepost.conversations.domain.messages import Conversation
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.lifecycle.dynamodb.archive import DynamoDbArchive
from fencepost.memory.dynamodb.chunks import DynamoDbMessageChunks
from fencepost.memory.service.message_entries import MessageEntries
from fencepost.queue.domain import Purpose
from fencepost.queue.dynamodb import DynamoDbJobStore
from tests.conformance.parts import row
from tests.conformance.samples import job_for, visitor_scope
from tests.fakes.blobs import FakeBlobs
from tests.integration.conversation_tables import ConversationTables
from tests.integration.tables import lose_answers
from tests.worlds.remember import RememberWorld

_owners = count()


@pytest.fixture
def store(tables: ConversationTables) -> DynamoDbMessageChunks:
    return DynamoDbMessageChunks(tables.conversations, lambda: tables.client)


@pytest.fixture
def scope() -> Scope:
    return visitor_scope(visitor=f"p{next(_owners)}")


def test_what_retention_hid_is_not_written_and_neither_is_what_came_with_it(
    tables: ConversationTables, store: DynamoDbMessageChunks, scope: Scope
) -> None:
    before = tables.begin(scope)
    tables.begin(scope, kept_from=3)
    assert not store.put_chunks(scope, before, [row(4), row(2)])
    assert store.chunks(scope, "c1") == ()
    assert store.put_chunks(scope, before, [row(3), row(4)])


def test_a_write_whose_answer_is_lost_counts_once_and_a_conflict_is_waited_for(
    tables: ConversationTables, store: DynamoDbMessageChunks, scope: Scope
) -> None:
    conversation = tables.begin(scope)
    lose_answers(tables.client, 1)
    assert store.put_chunks(scope, conversation, [row(1)])
    met = tables.conflict("TransactWriteItems", 2)
    assert store.put_chunks(scope, conversation, [row(2)])
    assert (len(met), store.chunks(scope, "c1")) == (2, (row(1), row(2)))


def test_what_is_written_while_retention_removes_does_not_stay(
    tables: ConversationTables, store: DynamoDbMessageChunks, scope: Scope
) -> None:
    archive = DynamoDbArchive(tables.conversations, FakeBlobs(), lambda: tables.client)
    entries = MessageEntries(store, RememberWorld().index)
    conversation = tables.begin(scope)

    def hide() -> None:
        assert archive.keep_from(scope, conversation, 5)
        entries.forget(scope, "c1", 4)

    def write(seq: int) -> Callable[[], bool]:
        return lambda: store.put_chunks(scope, conversation, [row(seq)])

    together([*map(write, range(1, 5)), hide, *map(write, range(5, 9))])
    assert store.chunks(scope, "c1") == tuple(map(row, range(5, 9)))


def test_two_workers_at_once_leave_what_one_would(tables: ConversationTables, store: DynamoDbMessageChunks) -> None:
    world = RememberWorld(scope=visitor_scope(visitor="race"))
    world.talk(8)
    conversation: Conversation = tables.begin(world.scope, next_seq=world.row.next_seq)
    jobs = DynamoDbJobStore(tables.conversations, lambda: tables.client)
    service = replace(world.service, entries=MessageEntries(store, world.index), jobs=jobs)
    job = job_for(world.scope, purpose=Purpose.REMEMBER)

    def work() -> ErrorCode | None:
        try:
            service.run(world.scope, job)
        except FencepostError as error:
            return error.code
        return None

    ended = together([work, work, work])
    assert None in ended
    assert set(ended) <= {None, ErrorCode.CONVERSATION_BUSY}
    rows = store.chunks(world.scope, conversation.id)
    assert {one.stored_id: one.chunk for one in rows} == world.index.of("c1")
    assert sorted(world.index.upserted) == sorted(one.chunk for one in rows)
    assert (len(rows), len(world.embedder.embedded)) == (16, 16)


def together(tasks: Sequence[Callable[[], object]]) -> list[object]:
    """Run tasks at once, and return what each returned."""
    with ThreadPoolExecutor(len(tasks)) as pool:
        return [future.result() for future in [pool.submit(task) for task in tasks]]
