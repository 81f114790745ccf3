"""Attributes of an open turn in its conversation's row, and the check of a membership."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import membership_row
from fencepost.kernel.aws.legacy.rows import attribute, timestamp
from fencepost.turns.domain.turns import Claim

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, TransactWriteItemTypeDef


def open_fields(claim: Claim) -> dict[str, AttributeValueTypeDef]:
    """Return what a claim's question adds to its conversation's row."""
    return {
        "open_content": attribute(claim.content),
        "open_attachments": attribute(claim.attachments),
        "open_at": attribute(timestamp(claim.now)),
    }


def membership_check(table: str, scope: Scope, user: str) -> TransactWriteItemTypeDef:
    """Require that the membership is what the scope was made from."""
    return {
        "ConditionCheck": {
            "TableName": table,
            "Key": membership_row(scope.org, user),
            "ConditionExpression": "active = :active AND version = :version",
            "ExpressionAttributeValues": {
                ":active": attribute(True),
                ":version": attribute(scope.permission_version),
            },
        }
    }
