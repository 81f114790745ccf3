"""Facts, summaries and titles on the emulated DynamoDB: all or none, never beside an erasure, whoever else writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from fencepost.adapters.dynamodb import keys
from fencepost.adapters.dynamodb.conversation_rows import conversation_item
from fencepost.adapters.dynamodb.memory import DynamoDbMemoryStore
from fencepost.adapters.dynamodb.rows import timestamp
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.facts import MAX_PINNED, WantedFact, rewritten
from fencepost.domain.identity import Scope
from fencepost.domain.jobs import Job, Purpose
from fencepost.domain.memory import Fact, FactState, Summary, SummaryLine
from fencepost.domain.messages import Conversation
from local.emulator import Emulator
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables, visitor_scope
from tests.integration.tables import lose_answers, sent_operations

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PINNED, PROPOSED, SUPERSEDED = FactState.PINNED, FactState.PROPOSED, FactState.SUPERSEDED
ROOMY = 100_000

_owners = count()


@pytest.fixture(scope="module")
def tables(emulator: Emulator) -> ConversationTables:
    return open_conversation_tables(emulator.endpoint_url)


@pytest.fixture
def store(tables: ConversationTables) -> DynamoDbMemoryStore:
    return DynamoDbMemoryStore(tables.conversations, lambda: tables.client)


@pytest.fixture
def scope() -> Scope:
    return visitor_scope(visitor=f"m{next(_owners)}")


def fact(fact_id: str, text: str = "Uses Linux.", state: FactState = PINNED, age: int = 0) -> Fact:
    return Fact(
        id=fact_id,
        text=text,
        state=state,
        pinned_by="owner",
        created_at=NOW - timedelta(seconds=age),
        provenance=("q1",),
    )


def summary(last: int = 4, words: str = "Asked.") -> Summary:
    return Summary(
        id=f"s{last}",
        lines=(SummaryLine(words, ("q1", "q1.1")),),
        first_seq=1,
        last_seq=last,
        content_hash="h",
        prompt_version="v",
        model="m",
        created_at=NOW,
    )


def begin(tables: ConversationTables, scope: Scope, conversation_id: str = "c1", **changes: object) -> Conversation:
    row = Conversation(
        id=conversation_id,
        site="docs",
        incarnation="i1",
        title="",
        created_at=NOW,
        updated_at=NOW,
        next_seq=9,
    )
    row = replace(row, **changes)  # type: ignore[arg-type]  # fields by name
    tables.client.put_item(TableName=tables.conversations, Item=conversation_item(scope, row))
    return row


def erase(tables: ConversationTables, scope: Scope, at: datetime) -> None:
    item = keys.erased_row(scope) | {"erased_at": {"S": timestamp(at)}}
    tables.client.put_item(TableName=tables.conversations, Item=item)


def job(scope: Scope, **changes: object) -> Job:
    made = Job(
        org=scope.org,
        owner=scope.owner,
        actor=scope.owner,
        purpose=Purpose.PROPOSE_FACTS,
        permission_version=0,
        created_at=NOW,
        conversation="c1",
        incarnation="i1",
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # fields by name


def adding(*facts: Fact) -> Callable[[Sequence[Fact]], Sequence[Fact]]:
    return lambda _: facts


def test_facts_come_back_as_they_were_written_by_state_and_age(store: DynamoDbMemoryStore, scope: Scope) -> None:
    old, new = fact("b", "日本語。", age=60), fact("a", state=PROPOSED)
    gone = replace(fact("c"), state=SUPERSEDED, superseded_by="b")
    assert store.write_facts(scope, [new, old, gone])
    assert store.facts(scope, PINNED, PROPOSED) == (old, new)
    assert store.facts(scope, SUPERSEDED) == (gone,)


def test_a_fact_stands_in_one_state_at_a_time(store: DynamoDbMemoryStore, scope: Scope) -> None:
    for state in (PROPOSED, PINNED, SUPERSEDED, PINNED):
        store.write_facts(scope, [fact("a", state=state)])
        assert store.facts(scope, *FactState) == (fact("a", state=state),)


def test_the_largest_change_is_one_transaction(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope
) -> None:
    store.write_facts(scope, [fact(f"old{number}", f"Old {number}.") for number in range(MAX_PINNED)])
    wanted = [WantedFact(f"New {number}.") for number in range(MAX_PINNED)]
    ids = (f"new{number}" for number in count())
    sent = sent_operations(tables.client)
    assert store.change_facts(scope, lambda current: rewritten(current, wanted, ids, NOW, ROOMY))
    assert sent.count("TransactWriteItems") == 1
    assert [len(store.facts(scope, state)) for state in (PINNED, SUPERSEDED)] == [MAX_PINNED, MAX_PINNED]


def test_more_than_a_transaction_takes_is_a_fault_of_ours(store: DynamoDbMemoryStore, scope: Scope) -> None:
    with pytest.raises(ValueError, match="transaction"):
        store.write_facts(scope, [fact(f"f{number}") for number in range(97)])
    assert store.facts(scope, *FactState) == ()


def test_what_a_change_raises_changes_nothing(store: DynamoDbMemoryStore, scope: Scope) -> None:
    def refuse(_: Sequence[Fact]) -> Sequence[Fact]:
        raise FencepostError(ErrorCode.FACTS_TOO_LARGE)

    with pytest.raises(FencepostError):
        store.change_facts(scope, refuse)
    assert store.facts(scope, *FactState) == ()


def test_however_many_write_at_once_no_change_is_decided_from_what_was_not_so(
    store: DynamoDbMemoryStore, scope: Scope
) -> None:
    def numbered(current: Sequence[Fact]) -> Sequence[Fact]:
        return [fact(f"f{len(current)}", f"The fact number {len(current)}.")]

    def write(_: int) -> int:
        written = 0
        for _attempt in range(3):
            try:
                written += store.change_facts(scope, numbered)
            except FencepostError as error:
                assert error.code is ErrorCode.CONVERSATIONS_UNAVAILABLE  # noqa: PT017 - some give up, and say so
        return written

    with ThreadPoolExecutor(6) as pool:
        total = sum(pool.map(write, range(6)))
    assert len(store.facts(scope, PINNED)) == total > 0


def test_an_answer_that_was_lost_counts_once(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope, emulator: Emulator
) -> None:
    fresh = open_conversation_tables(emulator.endpoint_url)
    lossy = DynamoDbMemoryStore(tables.conversations, lambda: fresh.client)

    def lose_the_next(current: Sequence[Fact]) -> Sequence[Fact]:
        lose_answers(fresh.client, 1)
        return [fact(f"f{len(current)}")]

    assert lossy.change_facts(scope, lose_the_next)
    assert [row.id for row in store.facts(scope, PINNED)] == ["f0"]


def test_a_deleted_fact_is_gone_from_every_state(store: DynamoDbMemoryStore, scope: Scope) -> None:
    store.write_facts(scope, [fact("a"), fact("b", state=SUPERSEDED)])
    assert [store.delete_fact(scope, name) for name in ("a", "b", "b", "c")] == [True, True, False, False]
    assert store.facts(scope, *FactState) == ()


@pytest.mark.parametrize(("after", "written"), [(-1, True), (0, False), (1, False)])
def test_a_job_writes_nothing_once_its_owner_was_erased(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope, after: int, written: bool
) -> None:
    begin(tables, scope)
    erase(tables, scope, NOW + timedelta(microseconds=after))
    assert store.write_facts(scope, [fact("a")], made_at=NOW) == written
    assert store.change_facts(scope, adding(fact("b")), job=job(scope)) == written
    assert len(store.facts(scope, PINNED)) == 2 * written


@pytest.mark.parametrize(("conversation", "incarnation"), [("c1", "i2"), ("c9", "i1")])
def test_a_job_writes_nothing_once_its_conversation_is_gone_or_another_one(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope, conversation: str, incarnation: str
) -> None:
    begin(tables, scope)
    late = job(scope, conversation=conversation, incarnation=incarnation)
    assert not store.change_facts(scope, adding(fact("a")), job=late)
    assert store.facts(scope, *FactState) == ()


def test_a_summary_comes_back_as_it_was_written_and_is_noted_in_the_row(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope
) -> None:
    row = begin(tables, scope)
    assert store.summary(scope, "c1") is None
    assert store.write_summary(scope, "c1", "i1", summary())
    assert store.summary(scope, "c1") == summary()
    assert tables.conversation(scope, "c1") == replace(row, summarised_through=4)


@pytest.mark.parametrize(("conversation", "incarnation"), [("c1", "i2"), ("c9", "i1")])
def test_no_summary_is_written_to_another_conversation(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope, conversation: str, incarnation: str
) -> None:
    begin(tables, scope)
    assert not store.write_summary(scope, conversation, incarnation, summary())
    assert store.summary(scope, conversation) is None
    assert tables.conversation(scope, "c9") is None


def test_a_late_worker_does_not_put_a_shorter_summary_in_place_of_a_longer_one(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope
) -> None:
    begin(tables, scope)
    assert store.write_summary(scope, "c1", "i1", summary(6))
    assert not store.write_summary(scope, "c1", "i1", summary(4))
    assert store.write_summary(scope, "c1", "i1", summary(6, "Approved."))
    assert store.summary(scope, "c1") == summary(6, "Approved.")


def test_a_dropped_summary_can_be_made_anew_from_the_beginning(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope
) -> None:
    row = begin(tables, scope)
    store.write_summary(scope, "c1", "i1", summary(6))
    store.drop_summary(scope, "c1")
    assert store.summary(scope, "c1") is None
    assert tables.conversation(scope, "c1") == row
    assert store.write_summary(scope, "c1", "i1", summary(4))


def test_dropping_a_summary_of_what_is_erased_brings_nothing_back(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope
) -> None:
    store.drop_summary(scope, "c1")
    assert tables.conversation(scope, "c1") is None


def test_a_title_is_given_once_and_to_the_right_conversation(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope
) -> None:
    row = begin(tables, scope)
    attempts = [("c1", "i2"), ("c9", "i1"), ("c1", "i1"), ("c1", "i1")]
    given = [store.name_conversation(scope, *where, "A title") for where in attempts]
    assert given == [False, False, True, False]
    assert tables.conversation(scope, "c1") == replace(row, title="A title")
    assert tables.conversation(scope, "c9") is None


def test_nothing_of_one_owner_is_seen_by_another_or_in_another_organisation(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope
) -> None:
    begin(tables, scope)
    store.write_facts(scope, [fact("a")])
    store.write_summary(scope, "c1", "i1", summary())
    elsewhere = visitor_scope("umbrella", scope.owner.removeprefix("visitor:"))
    for other in (visitor_scope(visitor="x"), elsewhere):
        assert store.facts(other, *FactState) == ()
        assert store.summary(other, "c1") is None
        assert not store.delete_fact(other, "a")
        assert not store.write_summary(other, "c1", "i1", summary(6))
    assert store.facts(scope, PINNED) == (fact("a"),)


def test_a_store_that_does_not_answer_is_said_to(emulator: Emulator, scope: Scope) -> None:
    client = open_conversation_tables(emulator.endpoint_url).client
    store = DynamoDbMemoryStore("no-such-table", lambda: client)
    begun: list[Callable[[], object]] = [
        lambda: store.facts(scope, PINNED),
        lambda: store.write_facts(scope, [fact("a")]),
        lambda: store.delete_fact(scope, "a"),
        lambda: store.summary(scope, "c1"),
        lambda: store.write_summary(scope, "c1", "i1", summary()),
        lambda: store.drop_summary(scope, "c1"),
        lambda: store.name_conversation(scope, "c1", "i1", "A title"),
    ]
    for call in begun:
        with pytest.raises(FencepostError) as raised:
            call()
        assert raised.value.code is ErrorCode.CONVERSATIONS_UNAVAILABLE
        assert "no-such-table" not in repr(raised.value)
