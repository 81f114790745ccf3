"""From records of the conversations' stream to jobs (docs/adr/0011): what is stored becomes work, and nothing else."""

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
"""Who removed a row whose time was over."""


def jobs_of(record: Mapping[str, Any]) -> Sequence[Job]:
    """Return the jobs that one record asks for.

    Args:
        record: as Lambda delivers it, with both images.

    Raises:
        ValueError: the record is not of a table of ours, or its row is not what its key says.
    """
    change = record.get("dynamodb") or {}
    image, key = change.get("NewImage"), change.get("Keys")
    if not key:
        raise ValueError("a record of the stream is needed")
    kind = key["sk"]["S"].partition("#")[0]
    if not image:
        expired = kind == "msg" and (record.get("userIdentity") or {}).get("principalId") == _TTL
        return (_after_expiry(*keys.owner_of(key["pk"]["S"]), change["OldImage"]),) if expired else ()
    if kind == "conv":
        return _after_conversation(*keys.owner_of(key["pk"]["S"]), change.get("OldImage"), image)
    if kind == "job" and record["eventName"] == "INSERT":
        return (_asked_for(*keys.owner_of(key["pk"]["S"]), image),)
    return ()


def _after_expiry(org: str, owner: str, image: Mapping[str, Any]) -> Job:
    at = datetime.fromtimestamp(int(image["expires_at"]["N"]), UTC)
    return job_after_expiry(org, owner, image["conversation_id"]["S"], at)


def _after_conversation(org: str, owner: str, old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> Sequence[Job]:
    before = read_conversation(old) if old else None
    return tuple(jobs_after(org, owner, before, read_conversation(new)))


def _asked_for(org: str, owner: str, image: Mapping[str, Any]) -> Job:
    job = from_item(JobRecord, image).job
    if (job.org, job.owner) != (org, owner):
        raise ValueError("a job stands in another owner's partition")
    return job
