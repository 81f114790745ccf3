"""What somebody who had something erased is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final, Literal

from fencepost.queue.domain import JobRecord, JobState, Purpose

LEFT: Final = "left"
"""Among an erasure's counts: how many rows, objects and entries the verifier found after the last sweep."""
SETTLING: Final = timedelta(minutes=2)
"""How long an index may go on to list what was removed from it: a minute at most, and as much again."""


class ErasedKind(StrEnum):
    """Kinds of what an erasure removes and counts: rows, objects, and entries of messages in the index."""

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
    """What an erasure removed so far. It is kept with the record of its job, and holds counts alone.

    Attributes:
        counts: of removed rows, objects and entries of the index, by kind.
        verified: somebody looked for it anew, and nothing was left.
        final: that was after everything had ended that could still write at the erasure's beginning, an upload by a
            form that was given out before it not least.
    """

    id: str
    counts: Mapping[str, int]
    verified: bool
    final: bool

    @property
    def status(self) -> Literal["running", "done"]:
        """What was erased cannot be read in either; while it is `running`, somebody will still look for more of it."""
        return "done" if self.verified and self.final else "running"


def receipt_of(record: JobRecord | None) -> Receipt | None:
    """Return the receipt in a job's record; None where it is no erasure's."""
    if record is None or record.job.purpose is not Purpose.ERASE:
        return None
    counts = {kind: count for kind, count in record.progress.items() if kind != LEFT}
    final = record.state is JobState.DONE
    return Receipt(record.id, counts, verified=record.progress.get(LEFT) == 0, final=final)
