"""Keys of messages, pointers, attachments and tombstones in the conversations' table."""

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
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import conversation, owner
from fencepost.kernel.aws.keys import Key, key
from fencepost.kernel.aws.legacy.client import Item
from fencepost.kernel.aws.legacy.reading import EXPIRES_AT
from fencepost.kernel.aws.legacy.rows import attribute, from_item, nested, plain, to_item
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ids import quoted
from fencepost.model.domain import Role

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef


ERASED = "erased"


def pointer_row(scope: Scope, message_id: str) -> Key:
    """Return the key of a question's pointer."""
    return key(owner(scope), f"msg#{quoted(message_id)}")


def message_row(scope: Scope, conversation_id: str, seq: int) -> Key:
    """Return the key of a message."""
    return key(conversation(scope, conversation_id), message_sort(seq))


def message_sort(seq: int) -> str:
    """Return a message's sort key."""
    return f"m#{seq:012d}"


def erased_row(scope: Scope) -> Key:
    """Return the key of the row that says when everything of the owner was last erased."""
    return key(owner(scope), ERASED)


def gone_row(scope: Scope, conversation_id: str) -> Key:
    """Return the key of a conversation's tombstone."""
    return key(owner(scope), f"gone#{quoted(conversation_id)}")


def file_row(scope: Scope, attachment_id: str) -> Key:
    """Return the key of an attachment."""
    return key(owner(scope), f"file#{quoted(attachment_id)}")


def import_row(scope: Scope, conversation_id: str) -> Key:
    """Return the key of the mark that an import is writing a conversation."""
    return key(owner(scope), f"import#{quoted(conversation_id)}")


def block_row(scope: Scope, conversation_id: str, first_seq: int) -> Key:
    """Return the key of a block of archived messages."""
    return key(conversation(scope, conversation_id), block_sort(first_seq))


def block_sort(first_seq: int) -> str:
    """Return a block's sort key."""
    return f"block#{first_seq:012d}"


def rating_row(scope: Scope, conversation_id: str, seq: int) -> Key:
    """Return the key of an archived answer's rating."""
    return key(conversation(scope, conversation_id), rating_sort(seq))


def rating_sort(seq: int) -> str:
    """Return the sort key of an archived answer's rating."""
    return f"rating#{seq:012d}"


NEXT_SEQ = 0
"""An open turn's `seq` in the store while its question is not a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerEntry:
    """What a pointer says of one answer. One that was imported may have no context."""

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
    """Return the question that stands in a conversation's row and nowhere else, as a pending message."""
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


def key_field(key: str) -> str:
    """Return the name of the pointer's attribute that says which revision was made for a key."""
    return f"key#{key}"


def read_made_for(item: Item, key: str) -> int | None:
    """Return the revision that was made for a key."""
    revision = item.get(key_field(key))
    return int(plain(revision)) if revision else None


def read_answers(item: Item) -> dict[int, AnswerEntry]:
    """Return a pointer's answers by their revisions, in their order."""
    entries = {int(revision): entry["M"] for revision, entry in item["answers"]["M"].items()}
    return {revision: from_item(AnswerEntry, entries[revision]) for revision in sorted(entries)}


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
        item = to_item(message) | message_row(scope, conversation_id, message.seq)
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
