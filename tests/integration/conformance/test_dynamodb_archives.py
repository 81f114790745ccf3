"""`DynamoDbArchive`, `DynamoDbImports` and `DynamoDbAttachments` against the conformance tests of their ports."""

from __future__ import annotations

import pytest

from fencepost.conversations.dynamodb.attachments import DynamoDbAttachments
from fencepost.conversations.dynamodb.conversations import DynamoDbConversations
from fencepost.lifecycle.dynamodb.archive import DynamoDbArchive
from fencepost.lifecycle.dynamodb.imports import DynamoDbImports
from tests.conformance.archives import ArchiveConformance
from tests.conformance.imports import AttachmentConformance, ImportConformance
from tests.fakes.blobs import FakeBlobs
from tests.integration.conversation_tables import ConversationTables


@pytest.fixture
def blobs() -> FakeBlobs:
    return FakeBlobs()


@pytest.fixture
def conversations(tables: ConversationTables, blobs: FakeBlobs) -> DynamoDbConversations:
    return DynamoDbConversations(tables.conversations, blobs, lambda: tables.client)


class TestDynamoDbArchive(ArchiveConformance):
    @pytest.fixture
    def subject(self, tables: ConversationTables, blobs: FakeBlobs) -> DynamoDbArchive:
        return DynamoDbArchive(tables.conversations, blobs, lambda: tables.client)

    @pytest.fixture
    def broken(self, tables: ConversationTables, blobs: FakeBlobs) -> DynamoDbArchive:
        return DynamoDbArchive("no-such-table", blobs, lambda: tables.client)


class TestDynamoDbImports(ImportConformance):
    @pytest.fixture
    def subject(self, tables: ConversationTables, blobs: FakeBlobs) -> DynamoDbImports:
        return DynamoDbImports(tables.conversations, blobs, lambda: tables.client)

    @pytest.fixture
    def broken(self, tables: ConversationTables, blobs: FakeBlobs) -> DynamoDbImports:
        return DynamoDbImports("no-such-table", blobs, lambda: tables.client)


class TestDynamoDbAttachments(AttachmentConformance):
    @pytest.fixture
    def attachments(self, tables: ConversationTables) -> DynamoDbAttachments:
        return DynamoDbAttachments(tables.conversations, lambda: tables.client)

    @pytest.fixture
    def broken_attachments(self, tables: ConversationTables) -> DynamoDbAttachments:
        return DynamoDbAttachments("no-such-table", lambda: tables.client)
