"""Store of diagnoses in DynamoDB, in the partition of organisation-scoped rows.

A look is recorded in one transaction: it increments the diagnosis' counter on condition that the diagnosis is open, and
stores the look's row. Content is shown only after the look is on record.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, override

from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.expressions import all_of
from fencepost.kernel.aws.rows import from_item, timestamp, to_item
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Table
from fencepost.lifecycle.domain.diagnosis import Diagnosis, Look
from fencepost.lifecycle.ports import DiagnosisStore
from fencepost.lifecycle.rows import DIAGNOSES, DiagnosisRow, diagnosis_row, look_prefix, look_row

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

RETENTION: Final = timedelta(days=400)
"""A year, and time to read it after a year's end."""

_SUFFIX_BYTES = 6  # 48 bits keep apart looks of the same microsecond.


class DynamoDbDiagnoses(DiagnosisStore):
    """Stores diagnoses and looks.

    Args:
        table: name of the conversations' table.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client) -> None:
        self._table = Table(table, client)

    @override
    def open(self, scope: Scope, diagnosis: Diagnosis) -> None:
        self._table.put(to_item(diagnosis) | diagnosis_row(scope, diagnosis.id) | _expiry(diagnosis.opened_at))

    @override
    def get(self, scope: Scope, diagnosis_id: str) -> Diagnosis | None:
        item = self._table.get(diagnosis_row(scope, diagnosis_id))
        return from_item(Diagnosis, item) if item else None

    @override
    def newest(self, scope: Scope, limit: int) -> tuple[Diagnosis, ...]:
        return self._newest(Diagnosis, scope, DIAGNOSES, limit)

    @override
    def looks(self, scope: Scope, diagnosis_id: str, limit: int) -> tuple[Look, ...]:
        return self._newest(Look, scope, look_prefix(diagnosis_id), limit)

    @override
    def look(self, scope: Scope, look: Look) -> bool:
        counted = self._table.update_write(
            diagnosis_row(scope, look.diagnosis_id),
            DiagnosisRow.looks.add(1),
            condition=all_of(
                DiagnosisRow.opened_by == scope.actor,
                DiagnosisRow.until > look.at,
                DiagnosisRow.closed_at.does_not_exist(),
            ),
        )
        key = look_row(scope, look.diagnosis_id, timestamp(look.at), secrets.token_hex(_SUFFIX_BYTES))
        recorded = self._table.put_write(to_item(look) | key | _expiry(look.at))
        return self._table.transact_with_retry({"diagnosis": counted, "look": recorded}) is None

    @override
    def close(self, scope: Scope, diagnosis: Diagnosis) -> None:
        if diagnosis.closed_at is None:
            raise ValueError("a diagnosis that is closed has a time when it was")
        self._table.update(
            diagnosis_row(scope, diagnosis.id),
            DiagnosisRow.closed_at.set(diagnosis.closed_at),
            condition=all_of(DiagnosisRow.pk.exists(), DiagnosisRow.closed_at.does_not_exist()),
        )

    def _newest[Value: DataclassInstance](
        self, kind: type[Value], scope: Scope, prefix: str, limit: int
    ) -> tuple[Value, ...]:
        partition = DiagnosisRow.pk == keys.organisation(scope.org)
        rows = self._table.query(partition & DiagnosisRow.sk.startswith(prefix), limit=limit, descending=True)
        return tuple(from_item(kind, item) for item in rows)


def _expiry(moment: datetime) -> dict[str, AttributeValueTypeDef]:
    return {"expires_at": {"N": str(int((moment + RETENTION).timestamp()))}}
