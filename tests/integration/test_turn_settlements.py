"""How a turn ends on DynamoDB: stored once by whoever still holds it, or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.blobs.domain import BIG_BYTES
from fencepost.conversations.domain.messages import Message, MessagePointer, MessageStatus
from fencepost.conversations.rows.conversation_rows import conversation_item
from fencepost.identity import rows as keys
from fencepost.kernel.errors import FencepostError
from fencepost.turns.domain.turns import SettleRefused, fingerprint
from fencepost.turns.dynamodb.turns import DynamoDbTurnStore
from local.emulator import Emulator
from tests.fakes.blobs import FakeBlobs
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables, visitor_scope
from tests.integration.tables import lose_answers
from tests.integration.turn_claims import LATER, beginning, claiming, loaded, settling, turn
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


def test_who_lost_the_lease_stores_nothing(tables: ConversationTables, store: DynamoDbTurnStore) -> None:
    scope = visitor_scope()
    store.claim(scope, beginning())
    late = settling(store, scope, claiming())
    assert store.claim(scope, replace(claiming(holder="h2"), resumes="h1")) is None
    assert store.settle(scope, late) == SettleRefused()
    assert tables.messages(scope, "c1") == []
    assert store.settle(scope, settling(store, scope, claiming(holder="h2"))) is None


def test_what_was_erased_meanwhile_does_not_come_back(tables: ConversationTables, store: DynamoDbTurnStore) -> None:
    scope = visitor_scope()
    store.claim(scope, beginning())
    late = settling(store, scope, claiming())
    tables.client.delete_item(TableName=tables.conversations, Key=keys.conversation_row(scope, "c1"))
    assert store.settle(scope, late) == SettleRefused(gone=True)
    store.release(scope, "c1", "h1", LATER)
    assert tables.conversation(scope, "c1") is None
    assert tables.messages(scope, "c1") == []


def test_what_came_back_under_the_same_id_is_another_conversation(
    tables: ConversationTables, store: DynamoDbTurnStore
) -> None:
    scope = visitor_scope()
    store.claim(scope, beginning())
    late = settling(store, scope, claiming())
    row = replace(late.conversation, incarnation="i2", open_turn=None)
    tables.client.put_item(TableName=tables.conversations, Item=conversation_item(scope, row))
    assert store.settle(scope, late) == SettleRefused(gone=True)
    assert tables.messages(scope, "c1") == []


def test_who_is_no_member_any_more_stores_nothing(tables: ConversationTables, store: DynamoDbTurnStore) -> None:
    scope = tables.member_scope()
    store.claim(scope, beginning())
    late = settling(store, scope, claiming())
    ended = tables.grant("acme", "u1", active=False, version=2)
    assert store.settle(scope, late) == SettleRefused(membership_ended=True, membership=ended)
    tables.client.delete_item(TableName=tables.directory, Key=keys.membership_row("acme", "u1"))
    assert store.settle(scope, late) == SettleRefused(membership_ended=True)
    assert tables.messages(scope, "c1") == []
    row = tables.conversation(scope, "c1")
    assert row is not None
    assert row.open_turn is not None
    # A membership that only changed is one still: an answer that was paid is not thrown away for that.
    tables.grant("acme", "u1", version=3)
    assert store.settle(scope, late) is None


def test_a_settlement_that_went_through_stays_so_after_the_membership(
    tables: ConversationTables, store: DynamoDbTurnStore
) -> None:
    scope = tables.member_scope()
    settlement = turn(store, scope, beginning())
    tables.grant("acme", "u1", active=False, version=2)
    assert store.settle(scope, settlement) is None


def test_an_answer_made_anew_supersedes_the_one_before(tables: ConversationTables, store: DynamoDbTurnStore) -> None:
    scope = visitor_scope()
    first = turn(store, scope, beginning())
    anew = replace(claiming(holder="h2"), answers_seq=1, regenerates=2)
    assert store.claim(scope, anew) is None
    second = replace(settling(store, scope, anew, "No."), supersedes=first.answer.seq)
    assert store.settle(scope, second) is None
    assert [one.status for one in tables.messages(scope, "c1")] == [
        MessageStatus.ANSWERED,
        MessageStatus.SUPERSEDED,
        MessageStatus.COMPLETE,
    ]
    pointer = MessagePointer("m1", "c1", 1, fingerprint("Hello"))
    assert store.stored_answer(scope, pointer) == second.answer
    assert [one.id for one in loaded(store, scope).recent] == ["m1", "m1.2"]
    refused = store.claim(scope, replace(anew, holder="h3"))
    assert refused is not None
    assert refused.pointer == pointer


def test_under_one_key_one_answer_is_made_anew(store: DynamoDbTurnStore) -> None:
    scope, pointer = visitor_scope(), MessagePointer("m1", "c1", 1, fingerprint("Hello"))
    turn(store, scope, beginning())
    made = dict[str, Message]()
    for revision, key in ((2, "k1"), (3, "k2")):
        anew = replace(claiming(holder=f"h{revision}"), answers_seq=1, regenerates=revision, key=key)
        assert store.claim(scope, anew) is None
        open_turn = loaded(store, scope).conversation.open_turn
        assert open_turn is not None
        assert open_turn.key == key
        settlement = replace(settling(store, scope, anew), supersedes=revision, key=open_turn.key)
        assert store.settle(scope, settlement) is None
        made[key] = settlement.answer
    superseded = replace(made["k1"], status=MessageStatus.SUPERSEDED)
    assert [store.stored_answer(scope, pointer, key) for key in ("k1", "k2", "k3")] == [superseded, made["k2"], None]
    refused = store.claim(scope, replace(claiming(holder="h4"), answers_seq=1, regenerates=4, key="k1"))
    assert refused is not None
    assert (refused.pointer, refused.conversation) == (pointer, None)
    assert store.claim(scope, replace(claiming(holder="h5"), answers_seq=1, regenerates=4, key="k3")) is None


def test_whoever_takes_over_a_dead_turn_keeps_its_key(store: DynamoDbTurnStore) -> None:
    scope = visitor_scope()
    turn(store, scope, beginning())
    anew = replace(claiming(holder="h2"), answers_seq=1, regenerates=2, key="k1")
    assert store.claim(scope, anew) is None
    assert store.claim(scope, replace(anew, holder="h3", resumes="h2", key=None)) is None
    open_turn = loaded(store, scope).conversation.open_turn
    assert open_turn is not None
    assert (open_turn.holder, open_turn.key) == ("h3", "k1")


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
