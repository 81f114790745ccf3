"""Records of diagnoses in DynamoDB, in the partition of what belongs to an organisation as a whole.

A look is one transaction: the diagnosis is counted up on condition that it is open, and the look's own row is stored.
Nothing is shown before it is on record.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, override

from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.legacy.client import OneTable, store_errors, update
from fencepost.kernel.aws.legacy.rows import from_item, timestamp, to_item
from fencepost.kernel.aws.legacy.transactions import transact_with_retry
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.lifecycle import rows as lifecycle_rows
from fencepost.lifecycle.domain.diagnosis import Diagnosis, Look
from fencepost.lifecycle.ports import DiagnosisStore

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, TransactWriteItemTypeDef

RETENTION: Final = timedelta(days=400)
"""A year, and time to read it after a year's end."""

_SUFFIX_BYTES = 6  # 48 bits keep apart looks of the same microsecond.


class DynamoDbDiagnoses(OneTable, DiagnosisStore):
    """Implements `fencepost.lifecycle.ports.DiagnosisStore` in the conversations' table."""

    @override
    def open(self, scope: Scope, diagnosis: Diagnosis) -> None:
        item = to_item(diagnosis) | lifecycle_rows.diagnosis_row(scope, diagnosis.id) | _expiry(diagnosis.opened_at)
        try:
            self._client().put_item(TableName=self._table, Item=item)
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None

    @override
    def get(self, scope: Scope, diagnosis_id: str) -> Diagnosis | None:
        key = lifecycle_rows.diagnosis_row(scope, diagnosis_id)
        try:
            item = self._client().get_item(TableName=self._table, Key=key, ConsistentRead=True).get("Item")
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
        return from_item(Diagnosis, item) if item else None

    @override
    def newest(self, scope: Scope, limit: int) -> tuple[Diagnosis, ...]:
        """Their ids sort by time."""
        return self._newest(Diagnosis, scope, lifecycle_rows.DIAGNOSES, limit)

    @override
    def looks(self, scope: Scope, diagnosis_id: str, limit: int) -> tuple[Look, ...]:
        return self._newest(Look, scope, lifecycle_rows.look_prefix(diagnosis_id), limit)

    @override
    def look(self, scope: Scope, look: Look) -> bool:
        count, row = self._count(scope, look), self._row(scope, look)
        return transact_with_retry(self._client(), {"diagnosis": count, "look": row}) is None

    @override
    def close(self, scope: Scope, diagnosis: Diagnosis) -> None:
        closed_at = diagnosis.closed_at
        if closed_at is None:
            raise ValueError("a diagnosis that is closed has a time when it was")
        update(
            self._client(),
            {
                "TableName": self._table,
                "Key": lifecycle_rows.diagnosis_row(scope, diagnosis.id),
                "UpdateExpression": "SET closed_at = :closed",
                "ConditionExpression": "attribute_exists(pk) AND attribute_not_exists(closed_at)",
                "ExpressionAttributeValues": {":closed": {"S": timestamp(closed_at)}},
            },
            ErrorCode.CONVERSATIONS_UNAVAILABLE,
        )

    def _newest[Row: DataclassInstance](
        self, kind: type[Row], scope: Scope, prefix: str, limit: int
    ) -> tuple[Row, ...]:
        try:
            page = self._client().query(
                TableName=self._table,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
                ExpressionAttributeValues={":pk": {"S": keys.organisation(scope.org)}, ":prefix": {"S": prefix}},
                ScanIndexForward=False,
                ConsistentRead=True,
                Limit=limit,
            )
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
        return tuple(from_item(kind, item) for item in page["Items"])

    def _count(self, scope: Scope, look: Look) -> TransactWriteItemTypeDef:
        return {
            "Update": {
                "TableName": self._table,
                "Key": lifecycle_rows.diagnosis_row(scope, look.diagnosis_id),
                "UpdateExpression": "ADD looks :one",
                "ConditionExpression": "opened_by = :actor AND #until > :now AND attribute_not_exists(closed_at)",
                "ExpressionAttributeNames": {"#until": "until"},
                "ExpressionAttributeValues": {
                    ":one": {"N": "1"},
                    ":actor": {"S": scope.actor},
                    ":now": {"S": timestamp(look.at)},
                },
            }
        }

    def _row(self, scope: Scope, look: Look) -> TransactWriteItemTypeDef:
        key = lifecycle_rows.look_row(scope, look.diagnosis_id, timestamp(look.at), secrets.token_hex(_SUFFIX_BYTES))
        return {"Put": {"TableName": self._table, "Item": to_item(look) | key | _expiry(look.at)}}


def _expiry(moment: datetime) -> dict[str, AttributeValueTypeDef]:
    return {"expires_at": {"N": str(int((moment + RETENTION).timestamp()))}}
