"""Holds every request that reaches the emulated DynamoDB against the rules of the real one.

`watch` runs inside the emulator's process and so sees the requests of all clients, those of deployed functions
included. What it finds goes to a file, and `tests/conftest.py` fails the run for it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from tests.doubles.dynamodb_rules import Schema, violations

MODULE, RECORD = "MINISTACK_WATCH", "MINISTACK_WATCH_RECORD"
"""Variables of the emulator's process: this module's name, and the file that findings are added to."""
FROM_A_TEST = "x-fencepost-test"
"""The header of requests that a test makes by itself: it may scan a table."""
_SHOWN_CHARACTERS = 600

type Handler = Callable[..., Coroutine[Any, Any, Any]]


def watch() -> None:
    """Let the emulator check each request before it handles it."""
    from ministack.services import dynamodb  # type: ignore[import-not-found]  # in the emulator's environment

    record = Path(os.environ.pop(RECORD))
    dynamodb.handle_request = watched(
        dynamodb.handle_request, lambda name: schema_of(dynamodb._tables.get(name)), record
    )


def watched(handle: Handler, schemas: Callable[[str], Schema | None], record: Path) -> Handler:
    """Return a handler that notes in a file what is wrong with a request, and then handles it."""

    async def checked(method: str, path: str, headers: Mapping[str, str], body: bytes, query: Any) -> Any:
        operation = headers.get("x-amz-target", "").rpartition(".")[2]
        if not (operation == "Scan" and FROM_A_TEST in headers):
            _note(record, operation, body, schemas)
        return await handle(method, path, headers, body, query)

    return checked


def schema_of(table: Mapping[str, Any] | None) -> Schema | None:
    """Return the keys of a table as the emulator keeps it."""
    if table is None:
        return None
    indexes = {
        index["IndexName"]: tuple(key["AttributeName"] for key in index["KeySchema"])
        for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")
        for index in table.get(kind) or ()
    }
    keys = tuple(name for name in (table["pk_name"], table.get("sk_name")) if name)
    return Schema(keys, indexes, frozenset(one["IndexName"] for one in table.get("GlobalSecondaryIndexes") or ()))


def _note(record: Path, operation: str, body: bytes, schemas: Callable[[str], Schema | None]) -> None:
    try:
        found = violations(operation, json.loads(body or b"{}"), schemas)
    except Exception as error:  # noqa: BLE001 - a request that cannot be checked is a finding, and not the end of it
        found = [f"it cannot be checked: {error!r}"]
    if found:
        with record.open("a", encoding="utf-8") as file:
            shown = body[:_SHOWN_CHARACTERS].decode(errors="replace")
            file.write(f"{operation}: {'; '.join(found)}\n    {shown}\n")
