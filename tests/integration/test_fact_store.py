"""Facts on the emulated DynamoDB: all or none, never beside an erasure, whoever else writes."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

import pytest

from fencepost.conversations.rows import keys as conversations_keys
from fencepost.identity.domain.facts import Fact, FactState
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.legacy.rows import timestamp
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory.domain.facts import MAX_PINNED, WantedFact, rewritten
from fencepost.memory.dynamodb.memory import DynamoDbMemoryStore
from local.emulator import Emulator
from tests.integration.conversation_tables import (
    NOW,
    ConversationTables,
    job_for,
    open_conversation_tables,
    visitor_scope,
)
from tests.integration.memory_rows import PINNED, PROPOSED, SUPERSEDED, adding, fact
from tests.integration.tables import lose_answers, sent_operations

ROOMY = 100_000


_owners = count()


@pytest.fixture
def store(tables: ConversationTables) -> DynamoDbMemoryStore:
    return DynamoDbMemoryStore(tables.conversations, lambda: tables.client)


@pytest.fixture
def scope() -> Scope:
    return visitor_scope(visitor=f"f{next(_owners)}")


def erase(tables: ConversationTables, scope: Scope, at: datetime) -> None:
    item = conversations_keys.erased_row(scope) | {"erased_at": {"S": timestamp(at)}}
    tables.client.put_item(TableName=tables.conversations, Item=item)


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
    tables.begin(scope)
    erase(tables, scope, NOW + timedelta(microseconds=after))
    assert store.write_facts(scope, [fact("a")], made_at=NOW) == written
    assert store.change_facts(scope, adding(fact("b")), job=job_for(scope)) == written
    assert len(store.facts(scope, PINNED)) == 2 * written


@pytest.mark.parametrize(("conversation", "incarnation"), [("c1", "i2"), ("c9", "i1")])
def test_a_job_writes_nothing_once_its_conversation_is_gone_or_another_one(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope, conversation: str, incarnation: str
) -> None:
    tables.begin(scope)
    late = job_for(scope, conversation=conversation, incarnation=incarnation)
    assert not store.change_facts(scope, adding(fact("a")), job=late)
    assert store.facts(scope, *FactState) == ()
