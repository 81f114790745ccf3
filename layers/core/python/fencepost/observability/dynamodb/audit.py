"""The audit trail: one row for each admitted request, removed after `AUDIT_RETENTION`."""

from __future__ import annotations

import secrets
from datetime import UTC, timedelta
from typing import override

from pynamodb.attributes import TTLAttribute, UnicodeAttribute

from fencepost.kernel.aws.calls import RetryPolicy
from fencepost.kernel.aws.rows import Row, attribute
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Table
from fencepost.kernel.errors import FencepostError
from fencepost.observability.domain.events import AuditFailedEvent, AuditRecord
from fencepost.observability.ports import AuditTrail, Events

AUDIT_RETENTION = timedelta(days=7)
"""How long a row is kept."""

_SUFFIX_BYTES = 6  # 48 bits tell apart requests of the same microsecond.


class AuditRow(Row):
    """One admitted request. Written by `DynamoDbAuditTrail` alone."""

    pk = UnicodeAttribute(hash_key=True)  # day#<UTC date>
    sk = UnicodeAttribute(range_key=True)  # <UTC time with microseconds>#<random suffix>
    outcome = UnicodeAttribute()  # an `Outcome`
    reason = UnicodeAttribute()  # an error code; absent where there was no error
    expires_at = TTLAttribute()  # `AUDIT_RETENTION` after the request


class DynamoDbAuditTrail(AuditTrail):
    """Implements `fencepost.observability.ports.AuditTrail`.

    Requests of a UTC day share a partition and sort by time.

    Args:
        table: name of the audit table.
        events: where failures are reported.
        client: makes or returns the client; called at the first use. By default it is the one that limits and ledger
            use, whose connection is warm by then.
    """

    def __init__(self, table: str, events: Events, client: ClientFactory = dynamodb_client) -> None:
        # A request does not wait for its audit: what is throttled is reported instead of repeated.
        self._table = Table(table, client, retries=RetryPolicy(deadline=0))
        self._events = events

    @override
    def record(self, entry: AuditRecord) -> None:
        time = entry.time.astimezone(UTC)
        sort = f"{time.isoformat(timespec='microseconds')}#{secrets.token_hex(_SUFFIX_BYTES)}"
        item = AuditRow.key(f"day#{time.date().isoformat()}", sort) | {
            "outcome": attribute(entry.outcome),
            "expires_at": attribute(int((time + AUDIT_RETENTION).timestamp())),
        }
        if entry.reason:
            item["reason"] = attribute(entry.reason)
        try:
            self._table.put(item)
        except FencepostError:
            self._events.emit(AuditFailedEvent())
