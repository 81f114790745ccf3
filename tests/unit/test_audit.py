from __future__ import annotations

from datetime import UTC, datetime

import boto3
from botocore.config import Config
from mypy_boto3_dynamodb import DynamoDBClient

from fencepost.adapters.dynamodb.audit import DynamoDbAuditTrail
from fencepost.domain.events import AuditFailedEvent, AuditRecord, Event
from local import processes

ENTRY = AuditRecord(time=datetime(2026, 3, 1, 9, 30, tzinfo=UTC), outcome="refused", reason="message_blank")


class Recorder:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        self.events.append(event)


def unreachable() -> DynamoDBClient:
    return boto3.client(
        "dynamodb",
        endpoint_url=f"http://127.0.0.1:{processes.free_port()}",
        region_name="us-east-1",
        config=Config(retries={"total_max_attempts": 1}),
    )


def test_a_store_that_does_not_answer_is_an_event_and_no_error() -> None:
    recorder = Recorder()
    DynamoDbAuditTrail("audit", recorder, unreachable).record(ENTRY)
    assert recorder.events == [AuditFailedEvent()]


def test_nothing_is_connected_to_before_the_first_entry() -> None:
    made: list[str] = []

    def client() -> DynamoDBClient:
        made.append("client")
        return unreachable()

    trail = DynamoDbAuditTrail("audit", Recorder(), client)
    assert not made
    trail.record(ENTRY)
    assert made == ["client"]
