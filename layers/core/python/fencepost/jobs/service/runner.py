"""Run jobs: each is authorised again at the moment when it runs, and is bound to what it was made for."""

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
"""What needs more than to write."""
_PAID = frozenset({Purpose.SUMMARISE, Purpose.PROPOSE_FACTS})
"""What calls the model: a closed site pays for nothing more."""
_PASSING = frozenset(
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
"""Failures that pass, or that an operator can mend: the queue brings the job again, and at last the dead letters."""


class JobRefused(Exception):
    """A job that may not run any more."""

    def __init__(self, reason: JobRefusal) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRunner:
    """Authorises jobs and hands them to what does them. A job may come twice, late, and in any order.

    Attributes:
        handlers: by purpose. Each repeats a job without harm, and raises `FencepostError` where it fails.
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
        """Run one job, and report what became of it. One that is refused, or fails of what will not pass, is done with.

        Args:
            job: as it was queued.
            attempt: counted from 1.
            last: the queue will not bring it again.

        Raises:
            FencepostError: it failed of something that may pass.
        """
        report = _Report(self, job, attempt, self.clock())
        # What nothing below expects is a fault of ours, and the queue brings the job again as it does after any other.
        ending = _Ending("failed" if last else "retried", code=ErrorCode.INTERNAL_ERROR)
        try:
            ending = _Ending(self._perform(self._authorised(job), job, last=last))
        except Denied as denial:
            ending = _Ending("refused", denial.reason)
        except JobRefused as refusal:
            ending = _Ending("refused", refusal.reason)
        except FencepostError as error:
            passing = error.code in _PASSING
            ending = _Ending("retried" if passing and not last else "failed", code=error.code)
            if passing:
                raise
        finally:
            report.write(ending)

    def _authorised(self, job: Job) -> Scope:
        """Authorise from the membership, or the site, as it is now.

        Raises:
            Denied: the actor may not do it any more.
            Refused: the visitor's site is not active any more. What was said there can still be taken away.
        """
        return self.decide(self._caller(job), action_of(job.purpose), Resource(job.org, job.owner))

    def _caller(self, job: Job) -> Caller:
        kind, _, name = job.actor.partition(":")
        if kind == "visitor":
            self._require_site(job.org, job.site, closed_will_do=job.purpose is Purpose.EXPORT)
            return Visitor(job.org, job.site, name)
        if kind == "member":
            return Member(job.org, name, self.directory.membership(job.org, name))
        return Operator(job.org)

    def _require_site(self, org: str, site_id: str, *, closed_will_do: bool = False) -> None:
        site = self.directory.site(org, site_id)
        if site is None or not (site.active or closed_will_do):
            raise JobRefused("site_inactive")

    def _perform(self, scope: Scope, job: Job, *, last: bool) -> JobResult:
        record = self._record(scope, job)
        if record and record.state in _finished(job.purpose):
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
            # A client that waits for it must learn that nobody will try again.
            if job.record and failure and (last or failure not in _PASSING):
                self._give_up(scope, job.record, failure)
        return "done"

    def _record(self, scope: Scope, job: Job) -> JobRecord | None:
        if not job.record:
            return None
        record = self.jobs.job(scope, job.record)
        # Nothing but an erasure of everything removes the record of a job that is under way.
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

    def _give_up(self, scope: Scope, job_id: str, code: ErrorCode) -> None:
        record = self.jobs.job(scope, job_id)
        if record:
            self.jobs.advance(scope, job_id, JobState.FAILED, progress=record.progress, error=code)

    def subject(self, job: Job) -> Subject:
        """Return whose data a job is about, under pseudonyms."""
        return subject_of(pseudonyms(self.keys), Resource(job.org, job.owner), job.actor)


@dataclass(frozen=True, slots=True)
class _Ending:
    """What became of one attempt, and why where it is not done."""

    result: JobResult
    reason: JobRefusal | None = None
    code: ErrorCode | None = None


@dataclass(frozen=True, slots=True)
class _Report:
    """Says what became of one attempt."""

    runner: JobRunner
    job: Job
    attempt: int
    began: datetime

    def write(self, ending: _Ending) -> None:
        event = JobEvent(
            purpose=self.job.purpose,
            result=ending.result,
            reason=ending.reason,
            code=ending.code,
            attempt=self.attempt,
            age_milliseconds=_milliseconds(self.job.created_at, self.began),
            milliseconds=_milliseconds(self.began, self.runner.clock()),
            subject=self.runner.subject(self.job),
        )
        self.runner.events.emit(event)


def _finished(purpose: Purpose) -> frozenset[JobState]:
    """Return in which states a job is not run again. An erasure goes on as often as an operator brings it back."""
    return frozenset({JobState.DONE} if purpose is Purpose.ERASE else {JobState.DONE, JobState.FAILED})


def action_of(purpose: Purpose) -> Action:
    """Return what a job of this purpose needs to be allowed."""
    return ACTIONS.get(purpose, Action.WRITE)


def _milliseconds(began: datetime, ended: datetime) -> float:
    return (ended - began).total_seconds() * 1_000
