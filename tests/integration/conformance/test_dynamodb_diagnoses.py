"""`DynamoDbDiagnoses` against the conformance tests of its port."""

from __future__ import annotations

import pytest

from fencepost.lifecycle.dynamodb.diagnoses import DynamoDbDiagnoses
from local import processes
from tests.conformance.diagnoses import DiagnosisConformance
from tests.integration.conversation_tables import ConversationTables
from tests.integration.tables import connect


class TestDynamoDbDiagnoses(DiagnosisConformance):
    @pytest.fixture
    def subject(self, tables: ConversationTables) -> DynamoDbDiagnoses:
        return DynamoDbDiagnoses(tables.conversations, lambda: tables.client)

    @pytest.fixture
    def broken(self) -> DynamoDbDiagnoses:
        dead = connect(f"http://127.0.0.1:{processes.free_port()}")
        return DynamoDbDiagnoses("table", lambda: dead)
