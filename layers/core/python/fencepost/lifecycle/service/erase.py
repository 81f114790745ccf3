"""Use cases of erasure: erase a conversation or everything of an owner, and return a receipt.

An erasure has three steps. The job is queued first, so that leftovers are swept even after a crash. Then the content is
made unreadable, and then it is removed. The job runs once all writers that began before the erasure have ended: it
removes the rows that they have written, and verifies that nothing is left.
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
"""Rows and entries removed while the client waits: a few seconds."""
JOB_ROWS = 50_000
"""Rows and entries that a job removes before it stores its progress."""

type ErasureResult = Literal["forgotten", "swept", "verified", "leftovers"]

_CONVERSATION = "conversation"


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseService:
    """Erases content and reports counts of removed items.

    All methods raise `FencepostError`: `not_found`, or `conversations_unavailable` when a store does not answer. A
    request for an erasure does not fail when the index does not answer: the job removes the rest later.
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
        return self._remove(scope, record, {ErasedKind.CONVERSATIONS: 1})

    def everything(self, scope: Scope) -> Receipt:
        """Erase everything of the owner."""
        record = self._queue(scope, {})
        return self._remove(scope, record, self.eraser.forget_owner(scope, self.clock()))

    def receipt(self, scope: Scope, receipt_id: str) -> Receipt:
        """Return the receipt of an erasure, with the counts so far."""
        return _receipt(self.jobs.job(scope, receipt_id))

    def run(self, scope: Scope, job: Job) -> None:
        """Run the job: remove leftovers until the verifier finds none.

        Raises:
            FencepostError: `conversations_unavailable`, also if a sweep removes nothing although something is left;
                `index_unavailable`. The queue delivers the job again.
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

    def _remove(self, scope: Scope, record: JobRecord, forgotten: Mapping[str, int]) -> Receipt:
        """Remove leftovers of unreadable content while the client waits, and return the receipt."""
        erasure = replace(record, progress=dict(forgotten))
        self._report(scope, erasure, "forgotten", removed=sum(forgotten.values()))
        # A failure from here on is not reported to the client: the content is unreadable, and the job is queued.
        with suppress(FencepostError):
            self.jobs.advance(scope, record.id, JobState.RUNNING, progress=erasure.progress)
            erasure = self._sweep(scope, erasure, INLINE_ROWS)
        return _receipt(erasure)

    def _sweep(self, scope: Scope, record: JobRecord, budget: int) -> JobRecord:
        """Remove up to `budget` leftovers, count what is left, and return the record with the new totals."""
        conversation_id = record.parameters.get(_CONVERSATION)
        swept = self.eraser.sweep(scope, conversation_id, budget)
        left = self.eraser.leftovers(scope, conversation_id)
        progress = {**(Counter(record.progress) + Counter(swept)), LEFT: sum(left.values())}
        removed = sum(swept.values())
        # The index may list removed entries for a while.
        removed_recently = ErasedKind.VECTORS in swept or self.clock() - record.updated_at < SETTLING
        unfinished = removed >= budget or (removed_recently and set(left) == {ErasedKind.VECTORS})
        result: ErasureResult = "verified" if not left else "swept" if unfinished else "leftovers"
        self._report(scope, record, result, removed=removed, left=progress[LEFT])
        if progress == record.progress:
            return record
        # The state is not `done` before the job has run: the job would take it for a reason not to look again.
        self.jobs.advance(scope, record.id, JobState.RUNNING, progress=progress)
        return replace(record, progress=progress, updated_at=self.clock())

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
