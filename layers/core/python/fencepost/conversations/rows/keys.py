"""Keys of messages, pointers, attachments and tombstones in the conversations' table."""

from __future__ import annotations

from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import conversation, owner
from fencepost.kernel.aws.keys import Key, key
from fencepost.kernel.ids import quoted

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
