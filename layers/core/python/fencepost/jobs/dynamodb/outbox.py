"""The outbox: read jobs from the stream of the conversations' table (docs/adr/0011). Nothing else queues them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from fencepost.conversations.rows.messages import read_conversation
from fencepost.identity import rows as keys
from fencepost.jobs.domain.outbox import job_after_expiry, jobs_after
from fencepost.kernel.aws.rows import from_item
from fencepost.queue.domain import Job, JobRecord

_TTL: Final = "dynamodb.amazonaws.com"
"""Principal of deletions by the table's TTL, in records of the stream."""


def jobs_of(record: Mapping[str, Any]) -> Sequence[Job]:
    """Return the jobs that a record of the stream asks for.

    Args:
        record: as Lambda delivers it, with the images before and after the change.

    Raises:
        ValueError: the record is not one of the conversations' table, or its row does not fit its key.
    """
    change = record.get("dynamodb") or {}
    image, key = change.get("NewImage"), change.get("Keys")
    if not key:
        raise ValueError("a record of the stream is needed")
    partition = key["pk"]["S"]
    kind = key["sk"]["S"].partition("#")[0]
    if not image:
        expired = kind == "msg" and (record.get("userIdentity") or {}).get("principalId") == _TTL
        if not expired:
            return []
        removed = change["OldImage"]
        at = datetime.fromtimestamp(int(removed["expires_at"]["N"]), UTC)
        return [job_after_expiry(*keys.owner_of(partition), removed["conversation_id"]["S"], at)]
    if kind == "conv":
        old = change.get("OldImage")
        before = read_conversation(old) if old else None
        return list(jobs_after(*keys.owner_of(partition), before, read_conversation(image)))
    if kind == "job" and record["eventName"] == "INSERT":
        job = from_item(JobRecord, image).job
        if (job.org, job.owner) != keys.owner_of(partition):
            raise ValueError("a job stands in another owner's partition")
        return [job]
    return []
