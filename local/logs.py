"""The functions' logs, read from the emulator's CloudWatch Logs and shortened for a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from local.emulator import Emulator

# The runtime's own lines, and what every line of a function repeats.
_PLATFORM = ("START ", "END ", "REPORT ", "INIT_START ")
_BOILERPLATE = frozenset(
    {
        "cold_start",
        "event",
        "exception",
        "function_arn",
        "function_memory_size",
        "function_name",
        "function_request_id",
        "level",
        "location",
        "message",
        "sampling_rate",
        "service",
        "timestamp",
        "xray_trace_id",
    }
)
_OVERLAP_MILLISECONDS = 120_000  # Longer than any invocation: its lines may be older than those of a later one.
_GROUP = re.compile(r"([A-Z][A-Za-z]*?)(?:Function|LogGroup)")


@dataclass(frozen=True, slots=True)
class Entry:
    """A log line of a function."""

    group: str
    time: datetime
    message: str


@dataclass
class Tail:
    """Follows all log groups; each read returns the new lines."""

    emulator: Emulator
    _streams: dict[str, int] = field(default_factory=dict)
    _latest: int = 0

    def read(self) -> list[Entry]:
        """Return the lines of the invocations that have ended since the last read."""
        client = self.emulator.client("logs")
        groups: list[str] = []
        # The emulator fails a listing while a function adds to it. What it missed comes with the next read.
        with suppress(ClientError):
            groups = [group["logGroupName"] for group in client.describe_log_groups()["logGroups"]]
        entries = [entry for group in groups for entry in self._new(client, group)]
        self._streams = {name: time for name, time in self._streams.items() if time >= self._since()}
        return sorted(entries, key=lambda entry: entry.time)

    def _new(self, client: Any, group: str) -> list[Entry]:
        # The emulator writes one stream for each invocation, whole when it ends.
        fresh = [
            event for event in _events(client, group, self._since()) if event["logStreamName"] not in self._streams
        ]
        self._streams |= {event["logStreamName"]: event["timestamp"] for event in fresh}
        self._latest = max([self._latest, *(event["timestamp"] for event in fresh)])
        return [
            Entry(group, datetime.fromtimestamp(event["timestamp"] / 1_000, UTC), event["message"].strip())
            for event in fresh
        ]

    def _since(self) -> int:
        return max(0, self._latest - _OVERLAP_MILLISECONDS)


def _events(client: Any, group: str, since: int) -> list[Any]:
    with suppress(ClientError):
        pages = client.get_paginator("filter_log_events").paginate(logGroupName=group, startTime=since)
        return [event for page in pages for event in page["events"]]
    return []


def short(entry: Entry) -> str | None:
    """Return a line for the terminal; None for metrics and platform records."""
    if entry.message.startswith(_PLATFORM):
        return None
    # `chat` for the group `/aws/lambda/fencepost-ChatFunction-1A2B`.
    function = _GROUP.search(entry.group)
    name = function[1].lower() if function else entry.group
    head = f"{entry.time.astimezone():%H:%M:%S} {name:5}"
    record = _parsed(entry.message)
    if record is None:
        return f"{head} {entry.message}"
    if "_aws" in record or str(record.get("type", "")).startswith("platform."):
        return None
    return " ".join([head, f"{record.get('level', ''):7}", str(record.get("message", "")), *_fields(record)])


def _parsed(message: str) -> dict[str, Any] | None:
    try:
        record = json.loads(message)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _fields(record: dict[str, Any]) -> Iterator[str]:
    """Return the fields to show. Zeros and empty values are left out."""
    for name, value in record.items():
        if name not in _BOILERPLATE and value:
            yield f"{name}={_compact(value)}"


def _compact(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, dict):
        return ",".join(f"{name}:{_compact(part)}" for name, part in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
