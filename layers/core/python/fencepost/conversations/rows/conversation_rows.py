"""Rows of conversations, messages and pointers: what they hold beside their dataclass's own fields.

A conversation's row with an open turn also holds its question: `open_content`, `open_attachments`, `open_at`. A fresh
question's number is not known to whoever writes it, so `open_turn.seq` is 0 in the store and the row's `next_seq` to
its readers. A pointer's `answers` is a map from revision to the answer's `seq` and `context`; its `seq` is 0 until the
question is a row. Its `key#<fingerprint>` is the revision that was made for a client's key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message, MessagePointer, MessageStatus
from fencepost.conversations.rows import keys as conversations_keys
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.legacy.client import Item
from fencepost.kernel.aws.legacy.rows import from_item, nested, plain, to_item
from fencepost.model.domain.prompt import Role

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef


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
    return to_item(pointer) | {"answers": entries} | conversations_keys.pointer_row(scope, pointer.message_id)


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
