"""Facts on the emulated DynamoDB: transactions, races and lost answers. The rest is in `tests.conformance.facts`."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import Fact
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory.domain.facts import MAX_PINNED, WantedFact, rewritten
from fencepost.memory.dynamodb.memory import DynamoDbMemoryStore
from local.emulator import Emulator
from tests.conformance.samples import NOW, PINNED, SUPERSEDED, fact, visitor_scope
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables
from tests.integration.tables import lose_answers, sent_operations

ROOMY = 100_000


_owners = count()


@pytest.fixture
def store(tables: ConversationTables) -> DynamoDbMemoryStore:
    return DynamoDbMemoryStore(tables.conversations, lambda: tables.client)


@pytest.fixture
def scope() -> Scope:
    return visitor_scope(visitor=f"f{next(_owners)}")


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
