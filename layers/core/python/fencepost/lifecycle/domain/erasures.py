"""Receipts of erasures, and the kinds of leftovers that they count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final, Literal

from fencepost.queue.domain import JobRecord, JobState, Purpose

LEFT: Final = "left"
"""Key in an erasure's progress: number of rows, objects and entries that the verifier found after the last sweep."""
SETTLING: Final = timedelta(minutes=2)
"""How long an index may list removed entries: one minute, doubled for safety."""


class ErasedKind(StrEnum):
    """Kinds of rows, objects and index entries that an erasure removes and counts."""

    CONVERSATIONS = "conversations"
    MESSAGES = "messages"
    POINTERS = "pointers"
    ARCHIVES = "archives"
    SUMMARIES = "summaries"
    FACTS = "facts"
    JOBS = "jobs"
    ATTACHMENTS = "attachments"
    IMPORTS = "imports"
    LEASES = "leases"
    PARTS = "parts"
    OBJECTS = "objects"
    VECTORS = "vectors"


@dataclass(frozen=True, slots=True)
class Receipt:
    """Counts of what an erasure has removed so far. It is stored in the record of the erasure's job.

    Attributes:
        counts: removed rows, objects and index entries, by kind.
        verified: a scan after the last sweep found no leftovers.
        final: that scan ran after everything had ended that could still write when the erasure began, including
            uploads by forms issued before it.
    """

    id: str
    counts: Mapping[str, int]
    verified: bool
    final: bool

    @property
    def status(self) -> Literal["running", "done"]:
        """Return `done` after the final scan, else `running`. Erased content is unreadable in both states."""
        return "done" if self.verified and self.final else "running"


def receipt_of(record: JobRecord | None) -> Receipt | None:
    """Return the receipt in a job's record; None if the job is not an erasure."""
    if record is None or record.job.purpose is not Purpose.ERASE:
        return None
    counts = {kind: count for kind, count in record.progress.items() if kind != LEFT}
    final = record.state is JobState.DONE
    return Receipt(record.id, counts, verified=record.progress.get(LEFT) == 0, final=final)
