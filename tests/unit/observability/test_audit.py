from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import boto3
import pytest
from botocore.config import Config
from botocore.parsers import ResponseParserError
from mypy_boto3_dynamodb import DynamoDBClient

from fencepost.kernel.aws.table import Table
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.observability.domain.events import AuditFailedEvent, AuditRecord, Event
from fencepost.observability.dynamodb.audit import DynamoDbAuditTrail
from local import processes
from tests.unit.documents.loopback_server import reply, running
from tests.worlds.chat import fails

ENTRY = AuditRecord(time=datetime(2026, 3, 1, 9, 30, tzinfo=UTC), outcome="refused", reason=ErrorCode.MESSAGE_BLANK)


class Recorder:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        self.events.append(event)


def client_at(url: str) -> DynamoDBClient:
    return boto3.client(
        "dynamodb", endpoint_url=url, region_name="us-east-1", config=Config(retries={"total_max_attempts": 1})
    )


def unreachable() -> DynamoDBClient:
    return client_at(f"http://127.0.0.1:{processes.free_port()}")


def failing_to_parse() -> DynamoDBClient:
    client = unreachable()
    client.meta.events.register("before-send.dynamodb", fails(ResponseParserError()))
    return client


@pytest.fixture
def garbled() -> Iterator[DynamoDBClient]:
    """A store behind something that answers in Latin-1."""
    with running() as server:
        yield client_at(server.serve(reply(b"\xff"), "/").removesuffix("/"))


def test_a_store_that_does_not_answer_is_an_event_and_no_error() -> None:
    recorder = Recorder()
    DynamoDbAuditTrail("audit", recorder, unreachable).record(ENTRY)
    assert recorder.events == [AuditFailedEvent()]


def test_an_answer_that_cannot_be_read_is_an_event_and_no_error(garbled: DynamoDBClient) -> None:
    recorder = Recorder()
    for make in (lambda: garbled, failing_to_parse):
        DynamoDbAuditTrail("audit", recorder, make).record(ENTRY)
    assert recorder.events == [AuditFailedEvent()] * 2


def test_an_update_whose_answer_cannot_be_read_fails_closed(garbled: DynamoDBClient) -> None:
    for make in (lambda: garbled, failing_to_parse, unreachable):
        with pytest.raises(FencepostError, match="ledger_unavailable"):
            Table("ledger", make, ErrorCode.LEDGER_UNAVAILABLE).update({"pk": {"S": "day"}})


def test_nothing_is_connected_to_before_the_first_entry() -> None:
    made: list[str] = []

    def client() -> DynamoDBClient:
        made.append("client")
        return unreachable()

    trail = DynamoDbAuditTrail("audit", Recorder(), client)
    assert not made
    trail.record(ENTRY)
    assert made == ["client"]
