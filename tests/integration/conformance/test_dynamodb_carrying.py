"""`DynamoDbCarryStore` against the conformance tests of its port."""

from __future__ import annotations

import pytest

from fencepost.lifecycle.dynamodb.carry import DynamoDbCarryStore
from fencepost.memory.dynamodb.memory import DynamoDbMemoryStore
from tests.conformance.carrying import CarryConformance
from tests.integration.conversation_tables import ConversationTables


class TestDynamoDbCarrying(CarryConformance):
    @pytest.fixture
    def memory(self, tables: ConversationTables) -> DynamoDbMemoryStore:
        return DynamoDbMemoryStore(tables.conversations, lambda: tables.client)

    @pytest.fixture
    def subject(self, tables: ConversationTables) -> DynamoDbCarryStore:
        return DynamoDbCarryStore(tables.conversations, tables.directory, lambda: tables.client)

    @pytest.fixture
    def broken(self, tables: ConversationTables) -> DynamoDbCarryStore:
        return DynamoDbCarryStore("no-such-table", tables.directory, lambda: tables.client)
