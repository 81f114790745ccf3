"""Jobs: work after an answer, or too long for a request. Each is authorised again when it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

OPERATOR = "operator"
"""Actor of jobs that do not depend on the owner's permission."""


class Purpose(StrEnum):
    """Kinds of jobs."""

    TITLE = "title"
    SUMMARISE = "summarise"
    PROPOSE_FACTS = "propose_facts"
    REMEMBER = "remember"
    ARCHIVE = "archive"
    EXPORT = "export"
    IMPORT = "import"
    ERASE = "erase"
    SCAN_ATTACHMENT = "scan_attachment"
    INGEST = "ingest"
    REMOVE_DOCUMENT = "remove_document"
    REMOVE_STRAYS = "remove_strays"
    REPAIR = "repair"


DELAYS: Mapping[Purpose, timedelta] = MappingProxyType({Purpose.ERASE: timedelta(minutes=15)})
"""Delay before the first delivery; none for other purposes.

An erasure scans again once everything that was running at its beginning has ended: turns, other jobs, and forms for
uploads. 15 minutes is the longest delay of SQS.
"""

ATTEMPTS = 5
"""Deliveries of a job before it goes to the dead letters: `maxReceiveCount` in the template."""
FIRST_RETRY = timedelta(seconds=10)
"""Delay after the first failure; most transient failures pass within seconds."""
RETRY_GROWTH = 6
"""Factor of each further delay: five attempts are spread over three quarters of an hour."""


def retry_delay(attempt: int) -> timedelta:
    """Return the delay after a failed attempt, counted from 1; zero after the last one."""
    return timedelta() if attempt >= ATTEMPTS else FIRST_RETRY * RETRY_GROWTH ** (attempt - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A unit of background work, as it is sent through the queue.

    Attributes:
        owner: owner of the data.
        actor: who asked for it: `visitor:…`, `member:…` or `operator`.
        permission_version: the actor's, when the job was made.
        site: id of a visitor's site.
        conversation: id of the conversation, if the job is about one.
        incarnation: incarnation of that conversation; the job is dropped if it has changed.
        record: id of the job's `JobRecord`, if clients can follow it.
        revises: a message was changed or removed that the conversation's summary or index entries may depend on.
        document: id of the document, if the job is about one.
    """

    org: str
    owner: str
    actor: str
    purpose: Purpose
    permission_version: int
    created_at: datetime
    site: str = ""
    conversation: str | None = None
    incarnation: str | None = None
    record: str | None = None
    revises: bool = False
    document: str | None = None


@dataclass(frozen=True, slots=True)
class WorkLease:
    """A worker's exclusive right to one kind of work on a conversation or document.

    Attributes:
        holder: random id of the worker, which alone may release the lease.
        now: when it was acquired.
        until: when it expires.
    """

    holder: str
    now: datetime
    until: datetime


class JobState(StrEnum):
    """State of a job, as clients see it."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """A job that a client asked for. Storing the record queues the job, by way of the table's stream.

    Attributes:
        parameters: further inputs of the job as strings: ids and S3 keys, never user content.
        progress: where a resumed run continues, and its counts so far.
        error: code of the failure, if the job failed.
    """

    id: str
    job: Job
    state: JobState
    created_at: datetime
    updated_at: datetime
    parameters: dict[str, str]
    progress: dict[str, int]
    error: str | None = None
