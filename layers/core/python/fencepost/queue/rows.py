"""Row models of job records and work leases, in the conversations' table."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from pynamodb.attributes import NumberAttribute, TTLAttribute, UnicodeAttribute

from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import ConversationsTableRow, conversation, owner
from fencepost.kernel.aws.rows import Key, TimestampAttribute, TypedAttribute
from fencepost.kernel.ids import quoted
from fencepost.queue.domain import Purpose

RECORDS_KEPT: Final = timedelta(days=30)
"""Longer than a job waits in the queue (4 days) and among the dead letters (14 days)."""


class JobRecordRow(ConversationsTableRow):
    """A job that a client asked for: all fields of `JobRecord`. Written by `DynamoDbJobStore` alone.

    The table's stream sends the job to the queue when the row is inserted.
    """

    pk = UnicodeAttribute(hash_key=True)  # the owner's partition
    sk = UnicodeAttribute(range_key=True)  # job#<id>
    state = UnicodeAttribute()  # a `JobState`
    progress = TypedAttribute()  # map of whole numbers
    error = TypedAttribute()  # an error code or null
    updated_at = TimestampAttribute()
    expires_at = TTLAttribute()  # `RECORDS_KEPT` after the record was made


class WorkRow(ConversationsTableRow):
    """Lease and progress of one purpose's jobs on a conversation. Written by `DynamoDbJobStore` alone.

    `holder` and `until` are absent while no worker holds the lease.
    """

    pk = UnicodeAttribute(hash_key=True)  # the conversation's partition
    sk = UnicodeAttribute(range_key=True)  # work#<purpose>
    holder = UnicodeAttribute()
    until = TimestampAttribute()
    through = NumberAttribute()  # last `seq` that the work is done for; absent before the first is
    remembered = UnicodeAttribute()  # partition key of the index of that name; in rows of `remember` alone


class JobConversationRow(ConversationsTableRow):
    """The part of a conversation's row that a job depends on; `fencepost.conversations` owns and writes the row."""

    incarnation = TypedAttribute()  # text


def job_row(scope: Scope, job_id: str) -> Key:
    """Return the key of a job's record."""
    return JobRecordRow.key(owner(scope), f"job#{quoted(job_id)}")


def work_row(scope: Scope, conversation_id: str, purpose: Purpose) -> Key:
    """Return the key of the lease of one purpose's jobs on a conversation."""
    return WorkRow.key(conversation(scope, conversation_id), f"work#{purpose}")
