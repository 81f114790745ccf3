"""Turns on the emulated DynamoDB: rows, lost answers and big contents.

What every `TurnStore` does is in `tests.conformance.turns` and `tests.conformance.settlements`.
"""

from __future__ import annotations

import pytest

from fencepost.blobs.domain import BIG_BYTES
from fencepost.conversations.domain.messages import MessagePointer
from fencepost.identity import rows as keys
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.turns.dynamodb.turns import DynamoDbTurnStore
from local.emulator import Emulator
from tests.conformance.samples import visitor_scope
from tests.conformance.turn_claims import beginning, claiming, loaded, settling, turn
from tests.fakes.blobs import FakeBlobs
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables
from tests.integration.tables import lose_answers
from tests.integration.turn_stores import turn_store


@pytest.fixture
def tables(emulator: Emulator) -> ConversationTables:
    return open_conversation_tables(emulator.endpoint_url)


@pytest.fixture
def blobs() -> FakeBlobs:
    return FakeBlobs()


@pytest.fixture
def store(tables: ConversationTables, blobs: FakeBlobs) -> DynamoDbTurnStore:
    return turn_store(tables, blobs)


def test_a_turn_that_begins_without_membership_leaves_nothing(
    tables: ConversationTables, store: DynamoDbTurnStore
) -> None:
    scope = tables.member_scope()
    tables.grant("acme", "u1", active=False, version=2)
    refused = store.claim(scope, beginning())
    assert refused is not None
    assert refused.membership_changed
    assert tables.rows(keys.owner(scope)) == []


@pytest.mark.parametrize("lost", [1, 2], ids=["repeated by the SDK", "not even then"])
def test_a_claim_whose_answer_was_lost_is_one_claim(
    tables: ConversationTables, store: DynamoDbTurnStore, lost: int
) -> None:
    scope = visitor_scope()
    turn(store, scope, beginning())
    lose_answers(tables.client, lost)
    if lost == 1:
        assert store.claim(scope, claiming("m2", holder="h2")) is None
    else:
        with pytest.raises(FencepostError) as failed:
            store.claim(scope, claiming("m2", holder="h2"))
        assert failed.value.code is ErrorCode.CONVERSATIONS_UNAVAILABLE
        assert store.claim(scope, claiming("m2", holder="h2")) is None
    assert store.settle(scope, settling(store, scope, claiming("m2", holder="h2"))) is None
    assert [one.seq for one in tables.messages(scope, "c1")] == [1, 2, 3, 4]


@pytest.mark.parametrize("lost", [1, 2], ids=["repeated by the SDK", "not even then"])
def test_a_settlement_whose_answer_was_lost_is_stored_once(
    tables: ConversationTables, store: DynamoDbTurnStore, lost: int
) -> None:
    scope = visitor_scope()
    store.claim(scope, beginning())
    settlement = settling(store, scope, claiming())
    lose_answers(tables.client, lost)
    if lost == 1:
        assert store.settle(scope, settlement) is None
    else:
        with pytest.raises(FencepostError):
            store.settle(scope, settlement)
    assert store.settle(scope, settlement) is None
    assert [one.seq for one in tables.messages(scope, "c1")] == [1, 2]


def test_a_big_answer_is_read_back_transparently(
    tables: ConversationTables, store: DynamoDbTurnStore, blobs: FakeBlobs
) -> None:
    scope = visitor_scope()
    text = "試" * (BIG_BYTES // 3 + 1)
    settlement = turn(store, scope, beginning(), text)
    item = tables.rows(keys.conversation(scope, "c1"))[1]
    assert "content" not in item
    assert loaded(store, scope).recent[-1] == settlement.answer
    assert store.stored_answer(scope, MessagePointer("m1", "c1", 1, "")) == settlement.answer
    assert len(list(blobs.names(scope, "conv/c1/big/"))) == 1
