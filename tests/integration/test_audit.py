from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from fencepost.kernel.errors import ErrorCode
from fencepost.observability.domain.events import AuditFailedEvent, AuditRecord, Event
from fencepost.observability.dynamodb.audit import AUDIT_RETENTION, DynamoDbAuditTrail
from local import template
from local.emulator import Emulator

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Recorder:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        self.events.append(event)


@pytest.fixture
def dynamodb(emulator: Emulator) -> DynamoDBClient:
    client: DynamoDBClient = emulator.client("dynamodb")
    return client


@pytest.fixture
def table(dynamodb: DynamoDBClient, request: pytest.FixtureRequest) -> str:
    """Create the template's table under a name of this test's own."""
    properties = template.load()["Resources"]["AuditTable"]["Properties"]
    name: str = request.node.name
    wanted = {key: properties[key] for key in ("BillingMode", "AttributeDefinitions", "KeySchema")}
    dynamodb.create_table(TableName=name, **wanted)
    return name


type Trail = Callable[[AuditRecord], None]


@pytest.fixture
def record(dynamodb: DynamoDBClient, table: str) -> Trail:
    return DynamoDbAuditTrail(table, Recorder(), lambda: dynamodb).record


def test_an_entry_is_found_by_its_utc_day_and_expires_a_week_later(
    dynamodb: DynamoDBClient, table: str, record: Trail
) -> None:
    tokyo = timezone(timedelta(hours=9))
    record(
        AuditRecord(time=datetime(2026, 3, 2, 1, 0, tzinfo=tokyo), outcome="refused", reason=ErrorCode.INPUT_REFUSED)
    )
    record(AuditRecord(time=NOON, outcome="answered"))
    answered, refused = dynamodb.query(
        TableName=table,
        KeyConditionExpression="pk = :day",
        ExpressionAttributeValues={":day": {"S": "day#2026-03-01"}},
    )["Items"]
    assert answered.keys() == {"pk", "sk", "outcome", "expires_at"}
    assert answered["sk"]["S"].startswith("2026-03-01T12:00:00")
    assert int(answered["expires_at"]["N"]) == int((NOON + AUDIT_RETENTION).timestamp())
    assert refused["reason"] == {"S": "input_refused"}
    assert refused["sk"]["S"].startswith("2026-03-01T16:00:00")


def test_entries_of_the_same_moment_stay_apart(dynamodb: DynamoDBClient, table: str, record: Trail) -> None:
    entry = AuditRecord(time=NOON, outcome="answered")
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda _: record(entry), range(64)))
    assert dynamodb.scan(TableName=table)["Count"] == 64


def test_a_table_that_is_gone_is_an_event_that_does_not_name_it(dynamodb: DynamoDBClient) -> None:
    recorder = Recorder()
    DynamoDbAuditTrail("no-such-table", recorder, lambda: dynamodb).record(AuditRecord(time=NOON, outcome="answered"))
    assert recorder.events == [AuditFailedEvent()]
