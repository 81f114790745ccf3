"""Log lines as the terminal shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError

from local.emulator import Emulator
from local.logs import Entry, Tail, short

GROUP = "/aws/lambda/fencepost-ChatFunction-68DE1E59DB92E"


def shown(message: str, group: str = GROUP) -> str | None:
    return short(Entry(group, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), message))


def test_a_record_becomes_one_line_without_what_every_record_repeats() -> None:
    record = {"level": "INFO", "message": "request", "service": "fencepost", "outcome": "answered", "cost": 0}
    line = shown(json.dumps(record | {"stages": {"total": 0.12345}, "sources": ["start#1"]}))
    assert line is not None
    assert line.partition(" ")[2] == 'chat  INFO    request outcome=answered stages=total:0.123 sources=["start#1"]'


@pytest.mark.parametrize("message", ["START RequestId: 1", "REPORT RequestId: 1", '{"_aws": {}, "Requests": [1.0]}'])
def test_what_only_machines_read_is_left_out(message: str) -> None:
    assert shown(message) is None


def test_a_traceback_is_shown_as_it_is() -> None:
    assert (shown("KeyError: 'message'") or "").endswith("chat  KeyError: 'message'")


def test_a_log_group_of_the_template_names_its_function() -> None:
    assert " meta  " in (shown("hello", group="fencepost-MetaLogGroup-1A2B") or "")


@dataclass
class FlakyLogs:
    """An emulator whose log service holds `events` and fails as often as `faults` says."""

    events: list[dict[str, Any]] = field(default_factory=list)
    faults: int = 0

    def client(self, service: str) -> FlakyLogs:
        assert service == "logs"
        return self

    def describe_log_groups(self) -> dict[str, Any]:
        if self.faults:
            self.faults -= 1
            raise ClientError({"Error": {"Code": "InternalError"}}, "DescribeLogGroups")
        return {"logGroups": [{"logGroupName": GROUP}]}

    def get_paginator(self, operation: str) -> FlakyLogs:
        assert operation == "filter_log_events"
        return self

    def paginate(self, *, logGroupName: str, startTime: int) -> Iterator[dict[str, Any]]:  # noqa: N803 - the SDK's names
        for event in self.events:
            yield {"events": [event] if event["timestamp"] >= startTime else []}


def test_a_tail_shows_each_line_once_and_outlives_a_failure_of_the_emulator() -> None:
    logs = FlakyLogs()
    tail = Tail(cast("Emulator", logs))
    shown: list[str] = []
    for minute in range(10):
        logs.events.append({"logStreamName": f"s{minute}", "timestamp": minute * 60_000, "message": f"line {minute}"})
        logs.faults = minute % 2
        shown += [entry.message for entry in tail.read()]
    assert shown + [entry.message for entry in tail.read()] == [f"line {minute}" for minute in range(10)]
