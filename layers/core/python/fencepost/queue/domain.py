"""Work that is done after an answer, or too long for a request. A job is authorised again when it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

OPERATOR = "operator"
"""The actor of work that goes on whatever becomes of the owner's permission."""


class Purpose(StrEnum):
    """What a job is for."""

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
"""How long a job waits before it runs, where it does: an erasure looks again when all has ended that could still write
at its beginning: turns, other jobs, and forms for uploads. SQS lets no message wait longer.
"""

ATTEMPTS = 5
"""How often the queue delivers a job before it goes to the dead letters: `maxReceiveCount` in the template."""
FIRST_RETRY = timedelta(seconds=10)
"""How long a job waits after its first failure; most failures that pass do so within seconds."""
RETRY_GROWTH = 6
"""Factor of each further wait: five attempts are spread over three quarters of an hour."""


def retry_delay(attempt: int) -> timedelta:
    """Return how long a job waits after a failed attempt, counted from 1; zero after the last one."""
    return timedelta() if attempt >= ATTEMPTS else FIRST_RETRY * RETRY_GROWTH ** (attempt - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of work, as it travels through the queue.

    Attributes:
        owner: whose data it is about.
        actor: who asked for it: an owner of the same kind (`visitor:…`, `member:…`) or `operator`.
        site: id of the site, for visitors.
        conversation: id, where it is about one.
        incarnation: of that conversation; a job for another one is dropped.
        permission_version: the actor's when the job was made.
        record: id of the job's own row, where it has one that shows its state.
        revises: a message was changed or removed that the conversation's summary, or its entries, may rest on.
        document: id, where it is about one.
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
    """One worker's hold on one kind of work on a conversation, from `now` until it ends by itself.

    Attributes:
        holder: random; only its worker may give it back.
    """

    holder: str
    now: datetime
    until: datetime


class JobState(StrEnum):
    """What a client sees of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """A job's row in its owner's partition; storing it is what queues the job (the table's stream is the outbox).

    Attributes:
        parameters: what the job needs to know besides, as strings: ids and S3 keys, never words of anybody.
        progress: where a resumed run goes on, and what it counted so far.
        error: the code of what it failed of.
    """

    id: str
    job: Job
    state: JobState
    created_at: datetime
    updated_at: datetime
    parameters: dict[str, str]
    progress: dict[str, int]
    error: str | None = None
