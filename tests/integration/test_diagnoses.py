"""Records of diagnoses on the emulated DynamoDB: looks of one moment, and when records expire.

What every `DiagnosisStore` does is in `tests.conformance.diagnoses`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from fencepost.kernel.aws.session import ClientFactory
from fencepost.lifecycle.dynamodb.diagnoses import RETENTION, DynamoDbDiagnoses
from local.emulator import Emulator
from tests.conformance.diagnoses import admin_scope, diagnosis, look
from tests.conformance.samples import NOW
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables
from tests.integration.tables import connect


@pytest.fixture
def store(emulator: Emulator) -> DynamoDbDiagnoses:
    return DynamoDbDiagnoses(open_conversation_tables(emulator.endpoint_url).conversations, client(emulator))


def client(emulator: Emulator) -> ClientFactory:
    connected = connect(emulator.endpoint_url)
    return lambda: connected


def test_looks_of_one_moment_are_all_recorded(store: DynamoDbDiagnoses) -> None:
    store.open(admin_scope(), diagnosis())
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: store.look(admin_scope(), look()), range(24)))
    assert results == [True] * 24
    assert store.get(admin_scope(), "d1") == diagnosis(looks=24)
    assert len(store.looks(admin_scope(), "d1", 100)) == 24


def test_records_expire(emulator: Emulator, tables: ConversationTables) -> None:
    store = DynamoDbDiagnoses(tables.conversations, client(emulator))
    store.open(admin_scope(), diagnosis())
    store.look(admin_scope(), look())
    expiries = {int(row["expires_at"]["N"]) for row in tables.rows("org#acme#")}
    assert expiries == {int((NOW + RETENTION).timestamp())}
