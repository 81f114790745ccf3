"""Archive blocks: which messages move from rows to S3, how a block is packed, checked and expired."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fencepost.conversations.domain.messages import Conversation, Message, MessageStatus
from fencepost.identity.domain.sites import Retention
from fencepost.kernel.json_lines import UnreadableLine, from_line, to_line

BLOCK_MESSAGES = 50
"""Messages of a block. Their rows are deleted in one transaction, of 100 items at most."""
MIN_ROWS = 400
"""Rows that stay in the table whatever a site configures: twice the most messages of a prompt."""

_LEVEL = 6


class DamagedBlock(ValueError):
    """A block is damaged. The message names no content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveBlock:
    """A run of consecutive archived messages, with their big contents.

    Attributes:
        object: name of the block's object in S3.
        sha256: digest of the object's bytes, in hexadecimal digits.
        first_at: time of the oldest message; `last_at` is that of the newest.
    """

    first_seq: int
    last_seq: int
    object: str
    sha256: str
    first_at: datetime
    last_at: datetime


def pack(messages: Sequence[Message]) -> bytes:
    """Return messages as gzip of JSON Lines (RFC 1952); the same messages make the same bytes."""
    return gzip.compress(b"".join(map(to_line, messages)), compresslevel=_LEVEL, mtime=0)


def unpack(block: ArchiveBlock, content: bytes) -> tuple[Message, ...]:
    """Return a block's messages.

    Raises:
        DamagedBlock: the digest, the compression, a line or the messages' numbers are wrong.
    """
    if hashlib.sha256(content).hexdigest() != block.sha256:
        raise DamagedBlock
    try:
        lines = gzip.decompress(content).splitlines()
        messages = tuple(from_line(Message, line) for line in lines)
    except (OSError, EOFError, zlib.error, UnreadableLine):
        raise DamagedBlock from None
    if [message.seq for message in messages] != list(range(block.first_seq, block.last_seq + 1)):
        raise DamagedBlock
    return messages


def describe(name: str, content: bytes, messages: Sequence[Message]) -> ArchiveBlock:
    """Return the description of a packed block, for its row."""
    return ArchiveBlock(
        first_seq=messages[0].seq,
        last_seq=messages[-1].seq,
        object=name,
        sha256=hashlib.sha256(content).hexdigest(),
        first_at=messages[0].created_at,
        last_at=messages[-1].created_at,
    )


def is_due(conversation: Conversation, retention: Retention) -> bool:
    """Tell whether a conversation has a block's worth of rows beyond those that stay in the table."""
    rows = conversation.next_seq - 1 - conversation.archived_through
    return rows >= max(retention.rows, MIN_ROWS) + BLOCK_MESSAGES


def reaches_block(before: int, after: int) -> bool:
    """Tell whether two values of a conversation's `next_seq` lie in different blocks, so that a job checks it."""
    return before // BLOCK_MESSAGES < after // BLOCK_MESSAGES


def movable(rows: Sequence[Message]) -> tuple[Message, ...]:
    """Return the rows of the next block, oldest first; none where they do not fill a block.

    A pending question stays, with all rows after it, because its answer changes its row.
    """
    run = tuple(rows[:BLOCK_MESSAGES])
    settled = all(message.status is not MessageStatus.PENDING for message in run)
    return run if len(run) == BLOCK_MESSAGES and settled else ()


def cutoff(days: int, now: datetime) -> datetime | None:
    """Return the time before which messages have expired; None where all messages are kept."""
    return now - timedelta(days=days) if days else None


def expiry(days: int, written_at: datetime) -> datetime | None:
    """Return the time at which an item expires, for the TTL attribute; None where it is kept."""
    return written_at + timedelta(days=days) if days else None


def is_kept(conversation: Conversation, message: Message, now: datetime) -> bool:
    """Tell whether a message may be shown. DynamoDB and the archive's jobs remove expired ones hours or days late."""
    oldest = cutoff(conversation.keep_days, now)
    return oldest is None or message.created_at >= oldest


def is_expired(conversation: Conversation, now: datetime) -> bool:
    """Tell whether a whole conversation has expired: no message was asked or stored since the cutoff."""
    oldest, turn = cutoff(conversation.keep_days, now), conversation.open_turn
    if oldest is None or conversation.updated_at >= oldest:
        return False
    return turn is None or turn.until < oldest


def is_over(conversation: Conversation, now: datetime) -> bool:
    """Tell whether a conversation has expired and has no messages left, only its own row."""
    return is_expired(conversation, now) and conversation.kept_from >= conversation.next_seq
