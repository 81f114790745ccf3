"""Run jobs. Each is authorised again when it runs, and is dropped if its conversation or record has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Literal

from fencepost.conversations.ports import ConversationStore
from fencepost.identity.domain.scope import Action, Caller, Denied, Member, Operator, Resource, Scope, Visitor
from fencepost.identity.ports import Directory
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock, Keys
from fencepost.observability.domain.event_parts import Subject
from fencepost.observability.domain.events import JobEvent, JobRefusal
from fencepost.observability.ports import Events
from fencepost.observability.service import pseudonyms, subject_of
from fencepost.queue.domain import Job, JobRecord, JobState, Purpose
from fencepost.queue.ports import JobStore

type JobHandler = Callable[[Scope, Job], None]
type JobResult = Literal["done", "superseded", "refused", "retried", "failed"]
ACTIONS: Mapping[Purpose, Action] = MappingProxyType(
    {
        Purpose.EXPORT: Action.EXPORT,
        Purpose.IMPORT: Action.IMPORT,
        Purpose.ERASE: Action.ERASE,
        Purpose.INGEST: Action.ADMINISTER,
        Purpose.REMOVE_DOCUMENT: Action.ADMINISTER,
        Purpose.REMOVE_STRAYS: Action.ADMINISTER,
        Purpose.REPAIR: Action.ADMINISTER,
    }
)
"""Action that a purpose is authorised for; `WRITE` for all others."""
_PAID = frozenset({Purpose.SUMMARISE, Purpose.PROPOSE_FACTS})
"""Purposes that call the model. They are refused for a closed site, which pays for no more calls."""
_TRANSIENT = frozenset(
    {
        ErrorCode.CONVERSATIONS_UNAVAILABLE,
        ErrorCode.CONVERSATION_BUSY,
        ErrorCode.DOCUMENT_BUSY,
        ErrorCode.INDEX_UNAVAILABLE,
        ErrorCode.EMBEDDER_UNAVAILABLE,
        ErrorCode.LEDGER_UNAVAILABLE,
        ErrorCode.IDENTITY_UNAVAILABLE,
        ErrorCode.MISCONFIGURED,
        ErrorCode.PROVIDER_OVERLOADED,
        ErrorCode.PROVIDER_TIMEOUT,
        ErrorCode.PROVIDER_FAILED,
        ErrorCode.PROVIDER_REJECTED,
        ErrorCode.INTERNAL_ERROR,
    }
)
"""Failures that pass, or that an operator can fix: the queue retries the job, and then moves it to the dead letters."""


class JobRefused(Exception):
    """The job may no longer run."""

    def __init__(self, reason: JobRefusal) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRunner:
    """Authorises jobs and calls their handlers. A job may be delivered twice, late, and in any order.

    Attributes:
        handlers: by purpose. Each is idempotent, and raises `FencepostError` if it fails.
        decide: authorises, and reports the decision.
    """

    handlers: Mapping[Purpose, JobHandler]
    decide: Callable[[Caller, Action, Resource], Scope]
    directory: Directory
    conversations: ConversationStore
    jobs: JobStore
    keys: Keys
    events: Events
    clock: Clock

    def run(self, job: Job, *, attempt: int = 1, last: bool = False) -> None:
        """Run a job, and report its result as an event. Refusals and permanent failures end the job.

        Args:
            job: as it was queued.
            attempt: number of the delivery, from 1.
            last: the queue will not deliver the job again.

        Raises:
            FencepostError: a transient failure, for which the queue is to deliver the job again.
        """
        began = self.clock()
        # Stays in force for an unexpected exception, which the queue retries like any transient failure.
        outcome = _Outcome("failed" if last else "retried", code=ErrorCode.INTERNAL_ERROR)
        try:
            scope = self.decide(self._caller(job), action_of(job.purpose), Resource(job.org, job.owner))
            outcome = _Outcome(self._perform(scope, job, last=last))
        except (Denied, JobRefused) as refusal:
            outcome = _Outcome("refused", refusal.reason)
        except FencepostError as error:
            transient = error.code in _TRANSIENT
            outcome = _Outcome("retried" if transient and not last else "failed", code=error.code)
            if transient:
                raise
        finally:
            self._report(job, attempt, began, outcome)

    def _caller(self, job: Job) -> Caller:
        """Return the actor, with the membership or site as it is now.

        Raises:
            JobRefused: the visitor's site is closed. Exports are still allowed there.
        """
        kind, _, name = job.actor.partition(":")
        if kind == "visitor":
            self._require_site(job.org, job.site, allows_closed=job.purpose is Purpose.EXPORT)
            return Visitor(job.org, job.site, name)
        if kind == "member":
            return Member(job.org, name, self.directory.membership(job.org, name))
        return Operator(job.org)

    def _require_site(self, org: str, site_id: str, *, allows_closed: bool = False) -> None:
        site = self.directory.site(org, site_id)
        if site is None or not (site.active or allows_closed):
            raise JobRefused("site_inactive")

    def _perform(self, scope: Scope, job: Job, *, last: bool) -> JobResult:
        record = self._record(scope, job)
        # A failed erasure is run again: operators may redrive it.
        finished = {JobState.DONE} if job.purpose is Purpose.ERASE else {JobState.DONE, JobState.FAILED}
        if record and record.state in finished:
            return "superseded"
        self._require_conversation(scope, job)
        failure: ErrorCode | None = ErrorCode.INTERNAL_ERROR
        try:
            self.handlers[job.purpose](scope, job)
            failure = None
        except FencepostError as error:
            failure = error.code
            raise
        finally:
            # Clients that poll the record must learn that there will be no further attempt.
            if job.record and failure and (last or failure not in _TRANSIENT):
                current = self.jobs.job(scope, job.record)
                if current:
                    self.jobs.advance(scope, job.record, JobState.FAILED, progress=current.progress, error=failure)
        return "done"

    def _record(self, scope: Scope, job: Job) -> JobRecord | None:
        if not job.record:
            return None
        record = self.jobs.job(scope, job.record)
        # Only an erasure of all owner data removes the record of a job that has not ended.
        if record is None and job.purpose is not Purpose.ERASE:
            raise JobRefused("owner_erased")
        return record

    def _require_conversation(self, scope: Scope, job: Job) -> None:
        if not job.conversation or not job.incarnation:
            return
        conversation = self.conversations.get(scope, job.conversation)
        if conversation is None:
            raise JobRefused("conversation_gone")
        if conversation.incarnation != job.incarnation:
            raise JobRefused("incarnation_changed")
        if job.purpose in _PAID and conversation.site:
            self._require_site(job.org, conversation.site)

    def _report(self, job: Job, attempt: int, began: datetime, outcome: _Outcome) -> None:
        event = JobEvent(
            purpose=job.purpose,
            result=outcome.result,
            reason=outcome.reason,
            code=outcome.code,
            attempt=attempt,
            age_milliseconds=_milliseconds(job.created_at, began),
            milliseconds=_milliseconds(began, self.clock()),
            subject=self.subject(job),
        )
        self.events.emit(event)

    def subject(self, job: Job) -> Subject:
        """Return organisation, owner and actor of a job as pseudonyms."""
        return subject_of(pseudonyms(self.keys), Resource(job.org, job.owner), job.actor)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Result of one attempt, with the reason of a refusal or the code of a failure."""

    result: JobResult
    reason: JobRefusal | None = None
    code: ErrorCode | None = None


def action_of(purpose: Purpose) -> Action:
    """Return the action that a job of this purpose is authorised for."""
    return ACTIONS.get(purpose, Action.WRITE)


def _milliseconds(began: datetime, ended: datetime) -> float:
    return (ended - began).total_seconds() * 1_000
