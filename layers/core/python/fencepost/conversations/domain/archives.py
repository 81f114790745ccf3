"""Blocks of old messages: which rows move to S3, how a block is written and how it is checked."""

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
"""Messages of a block: they leave the table in one transaction, which holds 100 items at most."""
MIN_ROWS = 400
"""Rows that stay in the table whatever a site sets: twice the most messages that a prompt may hold."""

_LEVEL = 6


class DamagedBlock(ValueError):
    """A block is not what was stored. The text says nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveBlock:
    """A run of archived messages, complete with what had stood outside their rows.

    Attributes:
        object: its name in S3.
        sha256: of the object's bytes, in hexadecimal digits.
        first_at: when its oldest message was written, and `last_at` its newest.
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
        DamagedBlock: its hash, its compression, a line, or the numbers of its messages are not what was stored.
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
    """Return what is kept in the table of a block."""
    return ArchiveBlock(
        first_seq=messages[0].seq,
        last_seq=messages[-1].seq,
        object=name,
        sha256=hashlib.sha256(content).hexdigest(),
        first_at=messages[0].created_at,
        last_at=messages[-1].created_at,
    )


def is_due(conversation: Conversation, retention: Retention) -> bool:
    """Tell whether a whole block's worth of rows is more than what stays in the table."""
    rows = conversation.next_seq - 1 - conversation.archived_through
    return rows >= max(retention.rows, MIN_ROWS) + BLOCK_MESSAGES


def reaches_block(before: int, after: int) -> bool:
    """Tell whether a conversation grew past a block's end between two values of its `next_seq`: a job looks then."""
    return before // BLOCK_MESSAGES < after // BLOCK_MESSAGES


def movable(rows: Sequence[Message]) -> tuple[Message, ...]:
    """Return the run of rows that may make the next block, oldest first; none where it would not be a whole one.

    A question without an answer stays, with all after it: its answer changes its row.
    """
    run = tuple(rows[:BLOCK_MESSAGES])
    settled = all(message.status is not MessageStatus.PENDING for message in run)
    return run if len(run) == BLOCK_MESSAGES and settled else ()


def cutoff(days: int, now: datetime) -> datetime | None:
    """Return the moment before which messages are not kept; None where all are."""
    return now - timedelta(days=days) if days else None


def expiry(days: int, written_at: datetime) -> datetime | None:
    """Return when something may go, for the table's TTL attribute; None where it is kept."""
    return written_at + timedelta(days=days) if days else None


def is_kept(conversation: Conversation, message: Message, now: datetime) -> bool:
    """Tell whether a message is still to be shown: the table's TTL and the archive's jobs come hours or days late."""
    oldest = cutoff(conversation.keep_days, now)
    return oldest is None or message.created_at >= oldest


def is_expired(conversation: Conversation, now: datetime) -> bool:
    """Tell whether all of a conversation is too old: nothing was written to it, or asked in it, since."""
    oldest, turn = cutoff(conversation.keep_days, now), conversation.open_turn
    if oldest is None or conversation.updated_at >= oldest:
        return False
    return turn is None or turn.until < oldest


def is_over(conversation: Conversation, now: datetime) -> bool:
    """Tell whether a conversation is too old, and nothing of it is left but its own row."""
    return is_expired(conversation, now) and conversation.kept_from >= conversation.next_seq
