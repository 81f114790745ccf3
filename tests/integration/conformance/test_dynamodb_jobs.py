"""`DynamoDbJobStore` against the conformance tests of its port."""

from __future__ import annotations

import pytest

from fencepost.queue.dynamodb import DynamoDbJobStore
from tests.conformance.jobs import CLOCK, JobConformance
from tests.integration.conversation_tables import ConversationTables


class TestDynamoDbJobs(JobConformance):
    @pytest.fixture
    def subject(self, tables: ConversationTables) -> DynamoDbJobStore:
        return DynamoDbJobStore(tables.conversations, lambda: tables.client, lambda: CLOCK)

    @pytest.fixture
    def broken(self, tables: ConversationTables) -> DynamoDbJobStore:
        return DynamoDbJobStore("no-such-table", lambda: tables.client)
