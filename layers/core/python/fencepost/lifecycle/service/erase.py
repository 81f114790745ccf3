"""Erase a conversation, or everything of an owner, and say what was removed.

The job is queued first: whatever happens after it, somebody sweeps. Then what is erased becomes unreadable, then it is
removed. The job comes again when all that could still write has ended, removes what that left, and looks anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from fencepost.conversations.ports import ConversationStore
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock, Keys
from fencepost.lifecycle.domain.erasures import LEFT, SETTLING, ErasedKind, Receipt, receipt_of
from fencepost.lifecycle.ports import Eraser
from fencepost.observability.domain.events import ErasureEvent
from fencepost.observability.ports import Events
from fencepost.observability.service import pseudonyms, subject
from fencepost.queue.domain import Job, JobRecord, JobState, Purpose
from fencepost.queue.ports import JobStore
from fencepost.queue.service import new_record

INLINE_ROWS = 20_000
"""Rows and entries that are removed while the client waits: a few seconds."""
JOB_ROWS = 50_000
"""Rows and entries that a job removes before it notes how far it has come."""

type ErasureResult = Literal["forgotten", "swept", "verified", "leftovers"]

_CONVERSATION = "conversation"


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseService:
    """All methods raise `FencepostError`: `not_found`, or `conversations_unavailable` when a store does not answer.

    An index that does not answer fails nobody who asks for an erasure: its job does the rest, once it answers.
    """

    conversations: ConversationStore
    eraser: Eraser
    jobs: JobStore
    keys: Keys
    events: Events
    clock: Clock

    def conversation(self, scope: Scope, conversation_id: str) -> Receipt:
        """Erase one conversation."""
        if self.conversations.get(scope, conversation_id) is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        record = self._queue(scope, {_CONVERSATION: conversation_id})
        if not self.eraser.forget_conversation(scope, conversation_id, self.clock()):
            raise FencepostError(ErrorCode.NOT_FOUND)
        return self._begin(scope, record, {ErasedKind.CONVERSATIONS: 1})

    def everything(self, scope: Scope) -> Receipt:
        """Erase everything of the owner."""
        record = self._queue(scope, {})
        return self._begin(scope, record, self.eraser.forget_owner(scope, self.clock()))

    def receipt(self, scope: Scope, receipt_id: str) -> Receipt:
        """Return what an erasure removed so far."""
        return _receipt(self.jobs.job(scope, receipt_id))

    def run(self, scope: Scope, job: Job) -> None:
        """Remove, as a job, what is left, and whatever came to it meanwhile.

        Raises:
            FencepostError: `conversations_unavailable`, also where something cannot be removed, or is still listed
                though it was removed; `index_unavailable`. The queue brings the job again.
        """
        record = self.jobs.job(scope, job.record) if job.record else None
        while record and (swept := self._sweep(scope, record, JOB_ROWS)).progress[LEFT]:
            if swept.progress == record.progress:
                raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
            record = swept
        if record:
            self.jobs.advance(scope, record.id, JobState.DONE, progress=swept.progress)

    def _queue(self, scope: Scope, parameters: Mapping[str, str]) -> JobRecord:
        record = new_record(scope, Purpose.ERASE, self.clock(), parameters=parameters)
        self.jobs.queue(scope, record)
        return record

    def _begin(self, scope: Scope, record: JobRecord, forgotten: Mapping[str, int]) -> Receipt:
        begun = replace(record, progress=dict(forgotten))
        self._report(scope, begun, "forgotten", removed=sum(forgotten.values()))
        # What fails from here on fails nobody: it is unreadable already, and the job will come.
        with suppress(FencepostError):
            self.jobs.advance(scope, record.id, JobState.RUNNING, progress=begun.progress)
            begun = self._sweep(scope, begun, INLINE_ROWS)
        return _receipt(begun)

    def _sweep(self, scope: Scope, record: JobRecord, budget: int) -> JobRecord:
        """Remove some, look anew, and return the record with all counts so far."""
        conversation_id = record.parameters.get(_CONVERSATION)
        swept = self.eraser.sweep(scope, conversation_id, budget)
        left = self.eraser.leftovers(scope, conversation_id)
        progress = {**(Counter(record.progress) + Counter(swept)), LEFT: sum(left.values())}
        removed = sum(swept.values())
        unfinished = removed >= budget or self._is_settling(record, swept, left)
        result: ErasureResult = "verified" if not left else "swept" if unfinished else "leftovers"
        self._report(scope, record, result, removed=removed, left=progress[LEFT])
        if progress == record.progress:
            return record
        # Not `done` before its job has come, which would take that for a reason not to look again.
        self.jobs.advance(scope, record.id, JobState.RUNNING, progress=progress)
        return replace(record, progress=progress, updated_at=self.clock())

    def _is_settling(self, record: JobRecord, swept: Mapping[str, int], left: Mapping[str, int]) -> bool:
        """Tell whether all that is left may be what the index lists for a while after it was removed."""
        recently = ErasedKind.VECTORS in swept or self.clock() - record.updated_at < SETTLING
        return recently and set(left) == {ErasedKind.VECTORS}

    def _report(self, scope: Scope, record: JobRecord, result: ErasureResult, *, removed: int, left: int = 0) -> None:
        conversation_id = record.parameters.get(_CONVERSATION)
        event = ErasureEvent(
            result=result,
            what="conversation" if conversation_id else "owner",
            removed=removed,
            left=left,
            subject=subject(pseudonyms(self.keys), scope, conversation_id),
        )
        self.events.emit(event)


def _receipt(record: JobRecord | None) -> Receipt:
    receipt = receipt_of(record)
    if receipt is None:
        raise FencepostError(ErrorCode.NOT_FOUND)
    return receipt
