"""The turn's store on DynamoDB: every condition that keeps two processes apart, and every answer that gets lost."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from fencepost.adapters.dynamodb import keys
from fencepost.adapters.dynamodb.conversation_rows import conversation_item
from fencepost.adapters.dynamodb.rows import to_item
from fencepost.adapters.dynamodb.turns import DynamoDbTurnStore
from fencepost.domain.conversation import Role
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.identity import Scope
from fencepost.domain.memory import Fact, FactState, Summary, SummaryLine
from fencepost.domain.messages import (
    AnswerContext,
    Conversation,
    LayerUse,
    Message,
    MessagePointer,
    MessageStatus,
)
from fencepost.domain.money import Usage
from fencepost.domain.objects import BIG_BYTES
from fencepost.domain.turns import LEASE, Claim, Settlement, SettleRefused, TurnMaterial, fingerprint
from local.emulator import Emulator
from tests.fakes_blobs import FakeBlobs
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables, visitor_scope
from tests.integration.tables import lose_answers
from tests.integration.turn_stores import turn_store

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = NOON + timedelta(minutes=5)


@pytest.fixture
def tables(emulator: Emulator) -> ConversationTables:
    return open_conversation_tables(emulator.endpoint_url)


@pytest.fixture
def blobs() -> FakeBlobs:
    return FakeBlobs()


@pytest.fixture
def store(tables: ConversationTables, blobs: FakeBlobs) -> DynamoDbTurnStore:
    return turn_store(tables, blobs)


def claiming(message_id: str = "m1", *, holder: str = "h1", conversation: str = "c1", text: str = "Hello") -> Claim:
    """Return a claim on a conversation that is there."""
    return Claim(
        conversation_id=conversation,
        message_id=message_id,
        fingerprint=fingerprint(text),
        content=text,
        holder=holder,
        now=NOON,
        until=NOON + LEASE,
        site="docs",
    )


def beginning(message_id: str = "m1", *, holder: str = "h1", conversation: str = "c1", text: str = "Hello") -> Claim:
    """Return a claim that makes its conversation."""
    row = Conversation(
        id=conversation, site="docs", incarnation="i1", title="", created_at=NOON, updated_at=NOON, next_seq=1
    )
    return replace(claiming(message_id, holder=holder, conversation=conversation, text=text), begins=row)


def loaded(store: DynamoDbTurnStore, scope: Scope, conversation: str = "c1", limit: int = 40) -> TurnMaterial:
    material = store.load(scope, conversation, limit)
    assert material is not None
    return material


def settling(
    store: DynamoDbTurnStore, scope: Scope, claim: Claim, text: str = "Yes.", now: datetime = LATER
) -> Settlement:
    """Return what the turn of a claim stores at its end."""
    conversation = loaded(store, scope, claim.conversation_id).conversation
    assert conversation.open_turn is not None
    seq, following = conversation.open_turn.seq, conversation.next_seq
    is_row = seq < following
    question = Message(
        id=claim.message_id,
        seq=seq,
        role=Role.USER,
        content=claim.content,
        created_at=NOON,
        status=MessageStatus.ANSWERED,
    )
    answer = Message(
        id=f"{claim.message_id}.{claim.regenerates or 1}",
        seq=following if is_row else following + 1,
        role=Role.ASSISTANT,
        content=text,
        created_at=now,
        status=MessageStatus.COMPLETE,
        reply_to=seq,
        usage=Usage(1, 0, 0, 1),
    )
    context = AnswerContext(
        answer_id=answer.id,
        created_at=now,
        model="claude-haiku-4-5",
        prompt_version="2",
        permission_version=0,
        layers=(LayerUse("message", 3, (f"msg:{claim.message_id}",)),),
        usage=None,
        cost_microdollars=7,
    )
    return Settlement(
        conversation=conversation,
        holder=claim.holder,
        question=None if is_row else question,
        question_seq=seq,
        question_id=claim.message_id,
        answer=answer,
        context=context,
        now=now,
    )


def turn(store: DynamoDbTurnStore, scope: Scope, claim: Claim, text: str = "Yes.") -> Settlement:
    """Make a whole turn."""
    assert store.claim(scope, claim) is None
    settlement = settling(store, scope, claim, text)
    assert store.settle(scope, settlement) is None
    return settlement


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
    place = keys.key(keys.conversation(scope, "c1"), keys.SUMMARY)
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
        item = to_item(fact) | keys.fact_row(whose, fact.state, fact.id)
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
