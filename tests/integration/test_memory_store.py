"""Summaries and titles on the emulated DynamoDB: for the right conversation, and for its owner alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from fencepost.identity.domain.facts import FactState
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory.dynamodb.memory import DynamoDbMemoryStore
from local.emulator import Emulator
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables, visitor_scope
from tests.integration.memory_rows import PINNED, fact, summary
from tests.integration.tables import sent_operations

_owners = count()


@pytest.fixture
def store(tables: ConversationTables) -> DynamoDbMemoryStore:
    return DynamoDbMemoryStore(tables.conversations, lambda: tables.client)


@pytest.fixture
def scope() -> Scope:
    return visitor_scope(visitor=f"m{next(_owners)}")


def test_a_summary_comes_back_as_it_was_written_and_is_noted_in_the_row(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope
) -> None:
    row = tables.begin(scope)
    assert store.summary(scope, "c1") is None
    assert store.write_summary(scope, "c1", "i1", summary())
    assert store.summary(scope, "c1") == summary()
    assert tables.conversation(scope, "c1") == replace(row, summarised_through=4)


@pytest.mark.parametrize(("conversation", "incarnation"), [("c1", "i2"), ("c9", "i1")])
def test_no_summary_is_written_to_another_conversation(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope, conversation: str, incarnation: str
) -> None:
    tables.begin(scope)
    assert not store.write_summary(scope, conversation, incarnation, summary())
    assert store.summary(scope, conversation) is None
    assert tables.conversation(scope, "c9") is None


def test_a_late_worker_does_not_put_a_shorter_summary_in_place_of_a_longer_one(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope
) -> None:
    tables.begin(scope)
    assert store.write_summary(scope, "c1", "i1", summary(6))
    assert not store.write_summary(scope, "c1", "i1", summary(4))
    assert store.write_summary(scope, "c1", "i1", summary(6, "Approved."))
    assert store.summary(scope, "c1") == summary(6, "Approved.")


def test_a_dropped_summary_can_be_made_anew_from_the_beginning(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope
) -> None:
    row = tables.begin(scope)
    store.write_summary(scope, "c1", "i1", summary(6))
    store.drop_summary(scope, "c1")
    assert store.summary(scope, "c1") is None
    assert tables.conversation(scope, "c1") == row
    assert store.write_summary(scope, "c1", "i1", summary(4))


def test_what_remains_of_a_dropped_summary_takes_its_place_in_the_same_write(
    tables: ConversationTables, scope: Scope, emulator: Emulator
) -> None:
    row = tables.begin(scope)
    counted = open_conversation_tables(emulator.endpoint_url)
    store = DynamoDbMemoryStore(tables.conversations, lambda: counted.client)
    store.write_summary(scope, "c1", "i1", summary(6))
    remaining = replace(summary(6, "Carried over."), last_seq=0)
    sent = sent_operations(counted.client)
    store.drop_summary(scope, "c1", remaining)
    assert sent == ["TransactWriteItems"]
    assert store.summary(scope, "c1") == remaining
    assert tables.conversation(scope, "c1") == row
    assert store.write_summary(scope, "c1", "i1", summary(4))


def test_what_remains_takes_the_place_of_no_other_summary_and_of_none(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope
) -> None:
    remaining = replace(summary(6, "Carried over."), last_seq=0)
    store.drop_summary(scope, "c1", remaining)
    tables.begin(scope)
    store.drop_summary(scope, "c1", remaining)
    assert store.summary(scope, "c1") is None
    store.write_summary(scope, "c1", "i1", summary(8))
    store.drop_summary(scope, "c1", remaining)
    assert store.summary(scope, "c1") == summary(8)


def test_dropping_a_summary_of_what_is_erased_brings_nothing_back(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope
) -> None:
    store.drop_summary(scope, "c1")
    assert tables.conversation(scope, "c1") is None


def test_a_title_is_given_once_and_to_the_right_conversation(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope
) -> None:
    row = tables.begin(scope)
    attempts = [("c1", "i2"), ("c9", "i1"), ("c1", "i1"), ("c1", "i1")]
    given = [store.name_conversation(scope, *where, "A title") for where in attempts]
    assert given == [False, False, True, False]
    assert tables.conversation(scope, "c1") == replace(row, title="A title")
    assert tables.conversation(scope, "c9") is None


def test_nothing_of_one_owner_is_seen_by_another_or_in_another_organisation(
    tables: ConversationTables, store: DynamoDbMemoryStore, scope: Scope
) -> None:
    tables.begin(scope)
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
