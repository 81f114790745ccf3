"""The open question's attributes in a `ConversationRow`, and the check of a membership in a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import MembershipRow, membership_row
from fencepost.kernel.aws.rows import attribute, timestamp
from fencepost.kernel.aws.table import Table
from fencepost.kernel.aws.transactions import Write
from fencepost.turns.domain.turns import Claim

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef


def open_fields(claim: Claim) -> dict[str, AttributeValueTypeDef]:
    """Return the attributes that hold a claim's question in its conversation's row."""
    return {
        "open_content": attribute(claim.content),
        "open_attachments": attribute(claim.attachments),
        "open_at": attribute(timestamp(claim.now)),
    }


def require_membership(directory: Table, scope: Scope, user: str) -> Write:
    """Return the check that a membership is active and has the version that the scope was made from."""
    active = MembershipRow.active == True  # noqa: E712 - makes an expression
    same_version = MembershipRow.version == scope.permission_version
    return directory.check_write(membership_row(scope.org, user), active & same_version)
