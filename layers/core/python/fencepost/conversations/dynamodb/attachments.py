"""Uploaded files: a row for each in its owner's partition.

Its `used_by` holds the ids of the conversations that it was attached in (`turn_actions.use_file`). It is erased with
the last of them, or with its owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, override

from fencepost.blobs.domain import PASSING_DAYS
from fencepost.conversations.domain.attachments import Attachment
from fencepost.conversations.ports import AttachmentStore
from fencepost.conversations.rows import messages as conversations_keys
from fencepost.conversations.rows.messages import expiring
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.legacy.client import OneTable, Refused, store_errors, update
from fencepost.kernel.aws.legacy.reading import EXPIRES_AT
from fencepost.kernel.aws.legacy.rows import from_item, to_item
from fencepost.kernel.errors import ErrorCode, FencepostError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import UpdateItemInputTypeDef


class DynamoDbAttachments(OneTable, AttachmentStore):
    """Implements `fencepost.conversations.ports.AttachmentStore` in the conversations' table."""

    @override
    def put(self, scope: Scope, attachment: Attachment) -> None:
        item = to_item(attachment) | conversations_keys.file_row(scope, attachment.id)
        # A file that is never uploaded, or never read, does not stay announced.
        item |= expiring(PASSING_DAYS, attachment.created_at)
        try:
            self._client().put_item(TableName=self._table, Item=item)
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None

    @override
    def get(self, scope: Scope, ids: Sequence[str]) -> dict[str, Attachment]:
        if not ids:
            return {}
        rows = [conversations_keys.file_row(scope, attachment_id) for attachment_id in dict.fromkeys(ids)]
        try:
            answer = self._client().batch_get_item(RequestItems={self._table: {"Keys": rows, "ConsistentRead": True}})
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
        if answer.get("UnprocessedKeys"):
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
        found = (from_item(Attachment, item) for item in answer["Responses"][self._table])
        return {attachment.id: attachment for attachment in found}

    @override
    def advance(self, scope: Scope, attachment: Attachment) -> bool:
        fields = to_item(attachment)
        changed = {name: fields[name] for name in ("state", "characters", "error") if name in fields}
        request: UpdateItemInputTypeDef = {
            "TableName": self._table,
            "Key": conversations_keys.file_row(scope, attachment.id),
            "UpdateExpression": f"SET {', '.join(f'#{name} = :{name}' for name in changed)} REMOVE {EXPIRES_AT}",
            "ConditionExpression": "attribute_exists(pk)",
            "ExpressionAttributeNames": {f"#{name}": name for name in changed},
            "ExpressionAttributeValues": {f":{name}": value for name, value in changed.items()},
        }
        return not isinstance(update(self._client(), request, ErrorCode.CONVERSATIONS_UNAVAILABLE), Refused)
