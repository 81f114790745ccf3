"""Summaries on the emulated DynamoDB: a dropped one is replaced in one write. The rest is in `tests.conformance`."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from fencepost.identity.domain.scope import Scope
from fencepost.memory.dynamodb.memory import DynamoDbMemoryStore
from local.emulator import Emulator
from tests.conformance.samples import summary, visitor_scope
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables
from tests.integration.tables import sent_operations

_owners = count()


@pytest.fixture
def scope() -> Scope:
    return visitor_scope(visitor=f"m{next(_owners)}")


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
