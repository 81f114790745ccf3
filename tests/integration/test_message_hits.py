"""Messages that hits lead to, on the emulated DynamoDB: one batch, inside the owner's partitions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.blobs.domain import BIG_BYTES
from fencepost.conversations.domain.messages import Message
from fencepost.identity.domain.scope import Scope
from fencepost.memory.dynamodb.chunks import DynamoDbMessageChunks
from fencepost.memory.dynamodb.message_hits import DynamoDbMessageHits
from fencepost.memory.ports import HitRows
from local.emulator import Emulator
from tests.fakes.memories import part
from tests.integration.conversation_tables import open_conversation_tables
from tests.integration.kept_conversations import CLOCK, SCOPE, Kept
from tests.integration.tables import sent_operations
from tests.worlds import api as api_world


@pytest.fixture(scope="module")
def kept(emulator: Emulator) -> Kept:
    return Kept(open_conversation_tables(emulator.endpoint_url))


def remember(kept: Kept, name: str, *messages: Message, scope: Scope = SCOPE) -> None:
    """Write the rows of messages of one chunk each."""
    parts = DynamoDbMessageChunks(kept.tables.conversations, lambda: kept.tables.client)
    conversation = kept.store.get(scope, name)
    assert conversation
    assert parts.put_chunks(scope, conversation, [part(one, 0, (0, len(one.content))) for one in messages])


def hydrate(kept: Kept, *wanted: tuple[str, int, int], scope: Scope = SCOPE) -> HitRows:
    hits = DynamoDbMessageHits(kept.tables.conversations, lambda: kept.tables.client)
    return hits.hydrate(scope, wanted)


def test_conversations_messages_and_parts_are_read_in_one_batch(kept: Kept) -> None:
    row = kept.converse("c1", 1)
    question, answer = api_world.exchange("c1", 1, CLOCK)
    remember(kept, "c1", question)
    sent = sent_operations(kept.tables.client)
    found = hydrate(kept, ("c1", 1, 0), ("c1", 2, 0), ("c1", 9, 0), ("c1", 1, 0), ("gone", 1, 0))
    assert sent == ["BatchGetItem"]
    assert found.conversations == {"c1": row}
    assert found.messages == {("c1", 1): question, ("c1", 2): answer}
    assert found.apart == frozenset()
    known = part(question, 0, (0, len(question.content)))
    assert found.chunks == {("c1", 1, 0): replace(known, vector=())}


def test_a_big_content_is_left_where_it_is(kept: Kept) -> None:
    kept.converse("c2", 1)
    big = replace(api_world.exchange("c2", 1, CLOCK)[1], content="ß" * BIG_BYTES)
    kept.say(SCOPE, "c2", big)
    kept.blobs.faults.calls.clear()
    found = hydrate(kept, ("c2", 2, 0))
    assert found.messages == {("c2", 2): replace(big, content="")}
    assert found.apart == {("c2", 2)}
    assert kept.blobs.faults.calls == []


def test_what_has_moved_to_a_block_is_not_there_but_its_part_and_its_conversation_are(kept: Kept) -> None:
    row = kept.converse("c3", 30)
    question = api_world.exchange("c3", 1, CLOCK)[0]
    remember(kept, "c3", question)
    archived = kept.archive(row, 1)
    found = hydrate(kept, ("c3", 1, 0))
    assert (found.messages, list(found.chunks)) == ({}, [("c3", 1, 0)])
    assert found.conversations["c3"].archived_through == archived.archived_through == 50
