"""How a turn begins on DynamoDB: every condition that keeps two processes apart, and what is loaded for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.conversations.domain.messages import MessagePointer, MessageStatus
from fencepost.identity import rows as keys
from fencepost.identity.domain.facts import Fact, FactState
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws import keys as aws_keys
from fencepost.kernel.aws.legacy.rows import to_item
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory.domain.summary import Summary, SummaryLine
from fencepost.memory.rows import keys as memory_keys
from fencepost.turns.domain.turns import LEASE, SettleRefused, fingerprint
from fencepost.turns.dynamodb.turns import DynamoDbTurnStore
from local.emulator import Emulator
from tests.fakes.blobs import FakeBlobs
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables, visitor_scope
from tests.integration.tables import lose_answers
from tests.integration.turn_claims import LATER, NOON, beginning, claiming, loaded, settling, turn
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


def test_a_turn_is_claimed_loaded_and_settled(tables: ConversationTables, store: DynamoDbTurnStore) -> None:
    scope = visitor_scope()
    assert store.claim(scope, beginning()) is None
    material = loaded(store, scope)
    assert material.recent == ()
    assert material.conversation.open_turn is not None
    assert (material.conversation.open_turn.seq, material.conversation.next_seq) == (1, 1)
    assert tables.messages(scope, "c1") == []
    settlement = settling(store, scope, claiming())
    assert store.settle(scope, settlement) is None
    assert tables.messages(scope, "c1") == [settlement.question, settlement.answer]
    row = tables.conversation(scope, "c1")
    assert row is not None
    assert (row.next_seq, row.open_turn, row.updated_at) == (3, None, LATER)


def test_the_next_turn_sees_the_one_before(store: DynamoDbTurnStore) -> None:
    scope = visitor_scope()
    first = turn(store, scope, beginning())
    assert store.claim(scope, claiming("m2", holder="h2")) is None
    material = loaded(store, scope)
    assert material.recent == (first.question, first.answer)
    assert material.conversation.open_turn is not None
    assert material.conversation.open_turn.seq == 3


def test_only_the_newest_messages_are_read(store: DynamoDbTurnStore) -> None:
    scope = visitor_scope()
    turn(store, scope, beginning())
    for number in range(2, 7):
        turn(store, scope, claiming(f"m{number}", holder=f"h{number}"))
    assert [message.seq for message in loaded(store, scope, limit=4).recent] == [7, 8, 9, 10, 11, 12]


def test_summary_and_pinned_facts_of_the_owner_alone_come_along(
    tables: ConversationTables, store: DynamoDbTurnStore
) -> None:
    scope = visitor_scope()
    turn(store, scope, beginning())
    summary = Summary(
        id="s1",
        lines=(SummaryLine("Ann asked.", ("msg:m1",)),),
        first_seq=1,
        last_seq=2,
        content_hash="0" * 64,
        prompt_version="1",
        model="claude-haiku-4-5",
        created_at=NOON,
    )
    place = aws_keys.key(keys.conversation(scope, "c1"), memory_keys.SUMMARY)
    tables.client.put_item(TableName=tables.conversations, Item=to_item(summary) | place)
    facts = [
        (scope, Fact(id="f1", text="Likes tea.", state=FactState.PINNED, pinned_by="owner", created_at=NOON)),
        (scope, Fact(id="f2", text="Perhaps.", state=FactState.PROPOSED, pinned_by="job", created_at=NOON)),
        (
            visitor_scope(visitor="v2"),
            Fact(id="f3", text="Foreign.", state=FactState.PINNED, pinned_by="owner", created_at=NOON),
        ),
    ]
    for whose, fact in facts:
        item = to_item(fact) | memory_keys.fact_row(whose, fact.state, fact.id)
        tables.client.put_item(TableName=tables.conversations, Item=item)
    material = loaded(store, scope)
    assert material.summary == summary
    assert [fact.id for fact in material.facts] == ["f1"]


def test_a_second_turn_is_told_who_holds_the_conversation(store: DynamoDbTurnStore) -> None:
    scope = visitor_scope()
    store.claim(scope, beginning())
    refused = store.claim(scope, claiming("m2", holder="h2"))
    assert refused is not None
    assert refused.pointer is None
    assert refused.conversation is not None
    assert refused.conversation.open_turn is not None
    assert refused.conversation.open_turn.holder == "h1"
    assert refused.conversation.open_turn.seq == 1


def test_a_message_that_is_known_is_told_where_it_stands(store: DynamoDbTurnStore) -> None:
    scope = visitor_scope()
    settlement = turn(store, scope, beginning())
    refused = store.claim(scope, beginning(holder="h2", conversation="c2"))
    assert refused is not None
    assert refused.pointer == MessagePointer("m1", "c1", 1, fingerprint("Hello"))
    assert store.stored_answer(scope, refused.pointer) == settlement.answer


@pytest.mark.parametrize("absent", ["c9", "../c1", "c1#", ""])
def test_an_absent_conversation_is_gone(store: DynamoDbTurnStore, absent: str) -> None:
    scope = visitor_scope()
    turn(store, scope, beginning())
    refused = store.claim(scope, claiming("m2", conversation=absent))
    assert refused is not None
    assert refused.gone
    assert store.load(scope, absent, 40) is None


@pytest.mark.parametrize(
    "foreign", [visitor_scope(visitor="v2"), visitor_scope("globex")], ids=["another owner", "another organisation"]
)
def test_a_foreign_conversation_is_as_absent_as_any(store: DynamoDbTurnStore, foreign: Scope) -> None:
    settlement = turn(store, visitor_scope(), beginning())
    known = store.claim(foreign, claiming("m2", conversation="c1"))
    assert known == store.claim(foreign, claiming("m2", conversation="c9"))
    assert store.load(foreign, "c1", 40) is None
    assert store.stored_answer(foreign, MessagePointer("m1", "c1", 1, "")) is None
    assert store.settle(foreign, settlement) == SettleRefused(gone=True)


def test_a_membership_of_another_version_may_not_claim(tables: ConversationTables, store: DynamoDbTurnStore) -> None:
    scope = tables.member_scope()
    turn(store, scope, beginning())
    for active, version in ((True, 2), (False, 1)):
        membership = tables.grant("acme", "u1", active=active, version=version)
        refused = store.claim(scope, claiming("m2", holder="h2"))
        assert refused is not None
        assert refused.membership_changed
        assert loaded(store, scope).membership == membership
    tables.grant("acme", "u1")
    assert store.claim(scope, claiming("m2", holder="h2")) is None


def test_a_turn_that_begins_without_membership_leaves_nothing(
    tables: ConversationTables, store: DynamoDbTurnStore
) -> None:
    scope = tables.member_scope()
    tables.grant("acme", "u1", active=False, version=2)
    refused = store.claim(scope, beginning())
    assert refused is not None
    assert refused.membership_changed
    assert tables.rows(keys.owner(scope)) == []


@pytest.mark.parametrize("resumes", [None, "h1"], ids=["free", "dead turn"])
def test_a_claim_goes_by_the_rules_of_the_conversations_own_site(
    tables: ConversationTables, store: DynamoDbTurnStore, resumes: str | None
) -> None:
    scope = visitor_scope()
    if resumes:
        store.claim(scope, beginning())
    else:
        turn(store, scope, beginning())
    stored = tables.conversation(scope, "c1")
    # By that site's rules the conversation would be too old to be there at all.
    late = NOON + timedelta(days=9)
    claim = replace(claiming("m1" if resumes else "m2", holder="h2"), site="shop", keep_days=1, now=late)
    refused = store.claim(scope, replace(claim, resumes=resumes))
    assert refused is not None
    assert not refused.gone
    assert refused.conversation is not None
    assert refused.conversation.site == "docs"
    assert tables.conversation(scope, "c1") == stored


def test_a_released_turn_is_over_and_its_question_stays(tables: ConversationTables, store: DynamoDbTurnStore) -> None:
    scope = visitor_scope()
    store.claim(scope, beginning())
    store.release(scope, "c1", "another", LATER)
    refused = store.claim(scope, claiming("m2", holder="h2"))
    assert refused is not None
    assert refused.conversation is not None
    assert refused.conversation.open_turn is not None
    assert refused.conversation.open_turn.until == NOON + LEASE
    store.release(scope, "c1", "h1", NOON)
    row = tables.conversation(scope, "c1")
    assert row is not None
    assert row.open_turn is not None
    assert row.open_turn.until == NOON


def test_a_dead_turns_question_is_parked_and_answered_later(
    tables: ConversationTables, store: DynamoDbTurnStore
) -> None:
    scope = visitor_scope()
    store.claim(scope, beginning(text="First"))
    row = loaded(store, scope).conversation
    assert store.park(scope, row, LATER)
    assert not store.park(scope, row, LATER)
    assert [(one.seq, one.content, one.status) for one in tables.messages(scope, "c1")] == [
        (1, "First", MessageStatus.PENDING)
    ]
    turn(store, scope, claiming("m2", holder="h2"))
    again = replace(claiming(holder="h3", text="First"), answers_seq=1)
    assert store.claim(scope, again) is None
    settlement = settling(store, scope, again)
    assert store.settle(scope, settlement) is None
    numbers = [(one.seq, one.id, one.reply_to, one.status) for one in tables.messages(scope, "c1")]
    assert numbers == [
        (1, "m1", None, MessageStatus.ANSWERED),
        (2, "m2", None, MessageStatus.ANSWERED),
        (3, "m2.1", 2, MessageStatus.COMPLETE),
        (4, "m1.1", 1, MessageStatus.COMPLETE),
    ]


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


def test_every_failure_of_the_store_has_one_name(tables: ConversationTables, blobs: FakeBlobs) -> None:
    broken = turn_store(replace(tables, conversations="no-such-table"), blobs)
    scope, conversation = visitor_scope(), beginning().begins
    assert conversation is not None
    for call in (
        lambda: broken.claim(scope, beginning()),
        lambda: broken.load(scope, "c1", 40),
        lambda: broken.release(scope, "c1", "h1", NOON),
        lambda: broken.park(scope, conversation, NOON),
        lambda: broken.stored_answer(scope, MessagePointer("m1", "c1", 1, "")),
    ):
        with pytest.raises(FencepostError) as failed:
            call()
        assert failed.value.code is ErrorCode.CONVERSATIONS_UNAVAILABLE
        assert "no-such-table" not in repr(failed.value)
