"""Files that a turn on DynamoDB brings along: which conversations use them, and which are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.conversations.domain.attachments import MOST_CONVERSATIONS, PLAIN, Attachment, AttachmentState
from fencepost.conversations.dynamodb.attachments import DynamoDbAttachments
from fencepost.conversations.rows import keys as conversations_keys
from fencepost.identity.domain.scope import Scope
from fencepost.turns.domain.turns import ClaimRefused
from fencepost.turns.dynamodb.turns import DynamoDbTurnStore
from local.emulator import Emulator
from tests.fakes.blobs import FakeBlobs
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables, visitor_scope
from tests.integration.turn_claims import NOON, beginning, claiming, turn
from tests.integration.turn_stores import turn_store


@pytest.fixture
def tables(emulator: Emulator) -> ConversationTables:
    return open_conversation_tables(emulator.endpoint_url)


@pytest.fixture
def store(tables: ConversationTables) -> DynamoDbTurnStore:
    return turn_store(tables, FakeBlobs())


def test_files_learn_which_conversations_use_them(tables: ConversationTables, store: DynamoDbTurnStore) -> None:
    scope = visitor_scope()
    for file_id in ("f1", "f2"):
        upload(tables, scope, file_id)
    turn(store, scope, replace(beginning(), attachments=("f1", "f2")))
    turn(store, scope, replace(claiming("m2", holder="h2"), attachments=("f1",)))
    other = replace(beginning("m3", holder="h3", conversation="c2"), attachments=("f1",))
    assert store.claim(scope, other) is None
    assert store.claim(scope, other) is None
    assert [users(tables, scope, file_id) for file_id in ("f1", "f2")] == [{"c1", "c2"}, {"c1"}]


def test_a_file_that_is_gone_or_used_up_is_not_attached(tables: ConversationTables, store: DynamoDbTurnStore) -> None:
    scope, foreign = visitor_scope(), visitor_scope(visitor="v2")
    upload(tables, foreign, "gone")
    full = [f"c{number}" for number in range(MOST_CONVERSATIONS)]
    upload(tables, scope, "full", *full)
    turn(store, scope, replace(beginning(), attachments=("full",)))
    for file_id in ("gone", "full"):
        refused = store.claim(scope, replace(beginning("m2", conversation="new"), attachments=(file_id,)))
        assert refused == ClaimRefused(files_gone=True)
    assert tables.conversation(scope, "new") is None
    assert users(tables, scope, "full") == set(full)
    assert users(tables, foreign, "gone") == set()


def upload(tables: ConversationTables, scope: Scope, file_id: str, *used_by: str) -> None:
    """Store the row of a file."""
    ready = AttachmentState.READY
    file = Attachment(id=file_id, name="a.txt", content_type=PLAIN, size=4, state=ready, created_at=NOON)
    DynamoDbAttachments(tables.conversations, lambda: tables.client).put(scope, file)
    if used_by:
        tables.client.update_item(
            TableName=tables.conversations,
            Key=conversations_keys.file_row(scope, file_id),
            UpdateExpression="ADD used_by :users",
            ExpressionAttributeValues={":users": {"SS": used_by}},
        )


def users(tables: ConversationTables, scope: Scope, file_id: str) -> set[str]:
    """Return the conversations that use a file."""
    answer = tables.client.get_item(TableName=tables.conversations, Key=conversations_keys.file_row(scope, file_id))
    return set(answer["Item"].get("used_by", {"SS": []})["SS"])
