"""`DynamoDbMessageChunks` and the readers of its rows against the conformance tests of their ports."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fencepost.identity.domain.scope import Scope
from fencepost.memory.dynamodb.chunks import DynamoDbMessageChunks, DynamoDbRememberedConversations
from fencepost.memory.dynamodb.message_hits import DynamoDbMessageHits
from fencepost.queue.domain import Purpose
from fencepost.queue.dynamodb import DynamoDbJobStore
from tests.conformance.parts import PartConformance
from tests.conformance.samples import job_for, lease
from tests.integration.conversation_tables import ConversationTables


class TestDynamoDbParts(PartConformance):
    @pytest.fixture
    def subject(self, tables: ConversationTables) -> DynamoDbMessageChunks:
        return DynamoDbMessageChunks(tables.conversations, lambda: tables.client)

    @pytest.fixture
    def remembered(self, tables: ConversationTables) -> DynamoDbRememberedConversations:
        return DynamoDbRememberedConversations(tables.conversations, lambda: tables.client)

    @pytest.fixture
    def remember(self, tables: ConversationTables) -> Callable[[Scope, str], None]:
        jobs = DynamoDbJobStore(tables.conversations, lambda: tables.client)

        def begin(scope: Scope, conversation_id: str) -> None:
            tables.begin(scope, id=conversation_id)
            job = job_for(scope, conversation=conversation_id, purpose=Purpose.REMEMBER)
            assert jobs.begin(scope, job, lease("w")) == 0

        return begin

    @pytest.fixture
    def hits(self, tables: ConversationTables) -> DynamoDbMessageHits:
        return DynamoDbMessageHits(tables.conversations, lambda: tables.client)

    @pytest.fixture
    def broken(self, tables: ConversationTables) -> DynamoDbMessageChunks:
        return DynamoDbMessageChunks("no-such-table", lambda: tables.client)

    @pytest.fixture
    def broken_remembered(self, tables: ConversationTables) -> DynamoDbRememberedConversations:
        return DynamoDbRememberedConversations("no-such-table", lambda: tables.client)

    @pytest.fixture
    def broken_hits(self, tables: ConversationTables) -> DynamoDbMessageHits:
        return DynamoDbMessageHits("no-such-table", lambda: tables.client)
