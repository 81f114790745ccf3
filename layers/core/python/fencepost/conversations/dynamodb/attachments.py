"""The store of attachments in the conversations' table: one `FileRow` for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import override

from fencepost.blobs.domain import PASSING_DAYS
from fencepost.conversations.domain.attachments import Attachment
from fencepost.conversations.ports import AttachmentStore
from fencepost.conversations.rows.messages import expiring, file_row
from fencepost.conversations.rows.models import FileRow
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.rows import Item, from_item, set_item, to_item
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Refused, Table


class DynamoDbAttachments(AttachmentStore):
    """Stores attachments in DynamoDB.

    Args:
        table: name of the conversations' table.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client) -> None:
        self._table = Table(table, client)

    @override
    def put(self, scope: Scope, attachment: Attachment) -> None:
        # The row of a file that is never uploaded, or never read, expires.
        expiry = expiring(PASSING_DAYS, attachment.created_at)
        self._table.put(to_item(attachment) | file_row(scope, attachment.id) | expiry)

    @override
    def get(self, scope: Scope, ids: Sequence[str]) -> dict[str, Attachment]:
        items = self._table.batch_get(file_row(scope, attachment_id) for attachment_id in dict.fromkeys(ids))
        found = (from_item(Attachment, item) for item in items)
        return {attachment.id: attachment for attachment in found}

    @override
    def advance(self, scope: Scope, attachment: Attachment) -> bool:
        fields = to_item(attachment)
        changed: Item = {name: fields[name] for name in ("state", "characters", "error") if name in fields}
        answer = self._table.update(
            file_row(scope, attachment.id),
            *set_item(changed),
            FileRow.expires_at.remove(),
            condition=FileRow.pk.exists(),
        )
        return not isinstance(answer, Refused)
