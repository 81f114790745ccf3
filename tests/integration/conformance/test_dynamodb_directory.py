"""`DynamoDbDirectory` and `DynamoDbDirectoryAdmin` against the conformance tests of their ports."""

from __future__ import annotations

import pytest

from fencepost.identity.dynamodb.directory import SECONDS, DynamoDbDirectory
from fencepost.identity.dynamodb.directory_admin import DynamoDbDirectoryAdmin
from local.emulator import Emulator
from tests.conformance.directory import DirectoryConformance, Refresh
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables


class Timer:
    """A monotonic timer that moves when told to."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds

    def end_copies(self) -> None:
        self.seconds += SECONDS


class TestDynamoDbDirectory(DirectoryConformance):
    @pytest.fixture
    def tables(self, emulator: Emulator) -> ConversationTables:
        return open_conversation_tables(emulator.endpoint_url)

    @pytest.fixture
    def timer(self) -> Timer:
        return Timer()

    @pytest.fixture
    def refresh(self, timer: Timer) -> Refresh:
        return timer.end_copies

    @pytest.fixture
    def subject(self, tables: ConversationTables, timer: Timer) -> DynamoDbDirectory:
        return DynamoDbDirectory(tables.directory, lambda: tables.client, timer)

    @pytest.fixture
    def admin(self, tables: ConversationTables) -> DynamoDbDirectoryAdmin:
        return DynamoDbDirectoryAdmin(tables.directory, lambda: tables.client)

    @pytest.fixture
    def broken(self, tables: ConversationTables) -> DynamoDbDirectory:
        return DynamoDbDirectory("no-such-table", lambda: tables.client)

    @pytest.fixture
    def broken_admin(self, tables: ConversationTables) -> DynamoDbDirectoryAdmin:
        return DynamoDbDirectoryAdmin("no-such-table", lambda: tables.client)
