"""Rows of conversations and messages as the domain's values and back, and the keys of all rows of this package.

`fencepost.conversations.rows.models` declares the rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from fencepost.blobs.domain import BIG_BYTES, big_content
from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.archives import expiry
from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message, MessagePointer, MessageStatus
from fencepost.conversations.rows.models import (
    BlockRow,
    ErasedRow,
    FileRow,
    ImportRow,
    MessageRow,
    PointerRow,
    RatingRow,
    TombstoneRow,
)
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import conversation, owner
from fencepost.kernel.aws.rows import Item, Key, attribute, from_item, nested, number, plain, to_item
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ids import quoted
from fencepost.model.domain import Role

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef


ERASED = "erased"


def pointer_row(scope: Scope, message_id: str) -> Key:
    """Return the key of a question's `PointerRow`."""
    return PointerRow.key(owner(scope), f"msg#{quoted(message_id)}")


def message_row(scope: Scope, conversation_id: str, seq: int) -> Key:
    """Return the key of a `MessageRow`."""
    return MessageRow.key(conversation(scope, conversation_id), message_sort(seq))


def message_sort(seq: int) -> str:
    """Return the sort key of a `MessageRow`."""
    return f"m#{seq:012d}"


def erased_row(scope: Scope) -> Key:
    """Return the key of an owner's `ErasedRow`."""
    return ErasedRow.key(owner(scope), ERASED)


def gone_row(scope: Scope, conversation_id: str) -> Key:
    """Return the key of a conversation's `TombstoneRow`."""
    return TombstoneRow.key(owner(scope), f"gone#{quoted(conversation_id)}")


def file_row(scope: Scope, attachment_id: str) -> Key:
    """Return the key of an attachment's `FileRow`."""
    return FileRow.key(owner(scope), f"file#{quoted(attachment_id)}")


def import_row(scope: Scope, conversation_id: str) -> Key:
    """Return the key of a conversation's `ImportRow`."""
    return ImportRow.key(owner(scope), f"import#{quoted(conversation_id)}")


def block_row(scope: Scope, conversation_id: str, first_seq: int) -> Key:
    """Return the key of a `BlockRow`."""
    return BlockRow.key(conversation(scope, conversation_id), block_sort(first_seq))


def block_sort(first_seq: int) -> str:
    """Return the sort key of a `BlockRow`."""
    return f"block#{first_seq:012d}"


def rating_row(scope: Scope, conversation_id: str, seq: int) -> Key:
    """Return the key of an archived answer's `RatingRow`."""
    return RatingRow.key(conversation(scope, conversation_id), rating_sort(seq))


def rating_sort(seq: int) -> str:
    """Return the sort key of a `RatingRow`."""
    return f"rating#{seq:012d}"


NEXT_SEQ = 0
"""`seq` of an open turn, and of a pointer, while the question is not a row. The domain sees `next_seq` instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerEntry:
    """One answer in a `PointerRow`. An imported answer may have no context."""

    seq: int
    context: AnswerContext | None = None


def conversation_item(scope: Scope, conversation: Conversation) -> dict[str, AttributeValueTypeDef]:
    """Return a conversation's row."""
    return to_item(conversation) | keys.conversation_row(scope, conversation.id)


def read_conversation(item: Item) -> Conversation:
    """Return the conversation that a row holds."""
    conversation = from_item(Conversation, item)
    turn = conversation.open_turn
    if turn is None or turn.seq != NEXT_SEQ:
        return conversation
    return replace(conversation, open_turn=replace(turn, seq=conversation.next_seq))


def open_question(item: Item) -> Message | None:
    """Return the question of a conversation's open turn as a pending message; None where it is a row already."""
    turn = read_conversation(item).open_turn
    if turn is None or "open_content" not in item:
        return None
    return Message(
        id=turn.message_id,
        seq=turn.seq,
        role=Role.USER,
        content=plain(item["open_content"]),
        created_at=datetime.fromisoformat(plain(item["open_at"])),
        status=MessageStatus.PENDING,
        attachments=tuple(plain(item["open_attachments"])),
    )


def pointer_item(
    scope: Scope, pointer: MessagePointer, answers: Mapping[int, AnswerEntry]
) -> dict[str, AttributeValueTypeDef]:
    """Return a pointer's row. `answers` are by their revisions."""
    entries: AttributeValueTypeDef = {"M": {str(revision): nested(entry) for revision, entry in answers.items()}}
    return to_item(pointer) | {"answers": entries} | pointer_row(scope, pointer.message_id)


def read_made_for(item: Item, key: str) -> int | None:
    """Return the revision that was made for a client's key, by the key's fingerprint; None where none was."""
    return number(item, PointerRow.made_for.name(key)) or None


def read_answers(item: Item) -> dict[int, AnswerEntry]:
    """Return a pointer's answers by their revisions, lowest first."""
    entries = {int(revision): entry["M"] for revision, entry in item["answers"]["M"].items()}
    return {revision: from_item(AnswerEntry, entries[revision]) for revision in sorted(entries)}


CONTENT_REF: Final = "content_ref"
"""The attribute that names the object with a message's content."""
_TEXT: Final = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class MessageRows:
    """Maps messages to items and back. Contents above `BIG_BYTES` are kept in S3."""

    blobs: BlobStore

    def item(
        self, scope: Scope, conversation_id: str, message: Message, keep_days: int = 0
    ) -> dict[str, AttributeValueTypeDef]:
        """Return a message's item with its key. A big content is stored in S3 first, so no row names a missing object.

        Args:
            scope: the conversation's.
            conversation_id: of the message's conversation.
            message: the message with its whole content.
            keep_days: days from the message's creation after which the row expires; 0 keeps the row.

        Raises:
            FencepostError: `conversations_unavailable`; the content could not be stored.
        """
        item = to_item(message) | message_row(scope, conversation_id, message.seq)
        content = message.content.encode()
        if len(content) > BIG_BYTES:
            name = big_content(conversation_id, message.seq, content)
            self.blobs.put(scope, name, content, _TEXT)
            del item["content"]
            item[CONTENT_REF] = {"S": name}
        return item | expiring(keep_days, message.created_at)

    def message(self, scope: Scope, item: Item) -> Message:
        """Return the message that an item holds, with a big content from S3.

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
    """Return the TTL attribute of a row that expires so many days after it was written; nothing for 0 days."""
    at = expiry(days, written_at)
    return {"expires_at": attribute(math.ceil(at.timestamp()))} if at else {}


def is_past(item: Item, now: datetime) -> bool:
    """Tell whether a row has expired. DynamoDB removes expired rows within days; until then no read shows them."""
    return "expires_at" in item and number(item, "expires_at") <= now.timestamp()
