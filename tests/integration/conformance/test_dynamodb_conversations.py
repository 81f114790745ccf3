"""`DynamoDbConversations` against the conformance tests of its port."""

from __future__ import annotations

import pytest

from fencepost.conversations.dynamodb.conversations import DynamoDbConversations
from tests.conformance.conversations import ConversationConformance
from tests.conformance.messages import MessageConformance
from tests.conformance.samples import READ_AT
from tests.fakes.blobs import FakeBlobs
from tests.integration.conversation_tables import ConversationTables


@pytest.fixture
def subject(tables: ConversationTables) -> DynamoDbConversations:
    return DynamoDbConversations(tables.conversations, FakeBlobs(), lambda: tables.client, lambda: READ_AT)


@pytest.fixture
def broken(tables: ConversationTables) -> DynamoDbConversations:
    return DynamoDbConversations("no-such-table", FakeBlobs(), lambda: tables.client)


class TestDynamoDbConversations(ConversationConformance):
    pass


class TestDynamoDbMessages(MessageConformance):
    pass
