"""The audit trail: one item per admitted request, gone after a week.

It shares the client of limits and ledger: its connection is warm by then, and its timeouts are short. An object mapper
would be imported, and configured, for a single put.
"""

from __future__ import annotations

import secrets
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, override

from fencepost.kernel.aws.legacy.client import ClientFactory, dynamodb_client, store_errors
from fencepost.observability.domain.events import AuditFailedEvent, AuditRecord
from fencepost.observability.ports import AuditTrail, Events

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

RETENTION = timedelta(days=7)

_SUFFIX_BYTES = 6  # 48 bits keep apart what happens in the same microsecond.


class DynamoDbAuditTrail(AuditTrail):
    """The items of a UTC day are one collection, in the order of time.

    Args:
        table: its name.
        events: where a failure goes.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, events: Events, client: ClientFactory = dynamodb_client) -> None:
        self._table = table
        self._events = events
        self._client = client

    @override
    def record(self, entry: AuditRecord) -> None:
        try:
            self._client().put_item(TableName=self._table, Item=_item(entry))
        except store_errors():
            self._events.emit(AuditFailedEvent())


def _item(entry: AuditRecord) -> dict[str, AttributeValueTypeDef]:
    time = entry.time.astimezone(UTC)
    item: dict[str, AttributeValueTypeDef] = {
        "pk": {"S": f"day#{time.date().isoformat()}"},
        "sk": {"S": f"{time.isoformat(timespec='microseconds')}#{secrets.token_hex(_SUFFIX_BYTES)}"},
        "outcome": {"S": entry.outcome},
        "expires_at": {"N": str(int((time + RETENTION).timestamp()))},
    }
    return item | {"reason": {"S": entry.reason}} if entry.reason else item
