"""Messages as rows. What is too big for a row stands in S3, and the row says where."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from fencepost.blobs.domain import BIG_BYTES, big_content
from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.archives import expiry
from fencepost.conversations.domain.messages import Message
from fencepost.conversations.rows import keys as conversations_keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.legacy.client import Item
from fencepost.kernel.aws.legacy.reading import EXPIRES_AT
from fencepost.kernel.aws.legacy.rows import attribute, from_item, to_item
from fencepost.kernel.errors import ErrorCode, FencepostError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

CONTENT_REF: Final = "content_ref"
"""The name of the object that holds a message's content."""
_TEXT: Final = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class MessageRows:
    """Turns messages into items and back."""

    blobs: BlobStore

    def item(
        self, scope: Scope, conversation_id: str, message: Message, keep_days: int = 0
    ) -> dict[str, AttributeValueTypeDef]:
        """Return a message's item with its key. A big content is in S3 by then, so no row points to nothing.

        Args:
            scope: whose.
            conversation_id: where it stands.
            message: whole.
            keep_days: days from when it was written until its row may go; 0 keeps it.

        Raises:
            FencepostError: `conversations_unavailable`; the content could not be stored.
        """
        item = to_item(message) | conversations_keys.message_row(scope, conversation_id, message.seq)
        content = message.content.encode()
        if len(content) > BIG_BYTES:
            name = big_content(conversation_id, message.seq, content)
            self.blobs.put(scope, name, content, _TEXT)
            del item["content"]
            item[CONTENT_REF] = {"S": name}
        return item | expiring(keep_days, message.created_at)

    def message(self, scope: Scope, item: Item) -> Message:
        """Return the message that an item holds.

        Raises:
            FencepostError: `conversations_unavailable`; its content cannot be read.
        """
        if CONTENT_REF not in item:
            return from_item(Message, item)
        content = self.blobs.get(scope, item[CONTENT_REF]["S"])
        if content is None:
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
        return from_item(Message, {**item, "content": {"S": content.decode()}})


def expiring(days: int, written_at: datetime) -> dict[str, AttributeValueTypeDef]:
    """Return the attribute that lets a row go so many days after it was written; none where it is kept."""
    at = expiry(days, written_at)
    return {EXPIRES_AT: attribute(math.ceil(at.timestamp()))} if at else {}
