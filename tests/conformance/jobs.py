"""Conformance tests of every `JobStore`: records of jobs, and leases of work on a conversation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from fencepost.identity.domain.scope import Action, Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.queue.domain import JobState, Purpose, WorkLease
from fencepost.queue.ports import JobStore
from fencepost.queue.service import new_record
from tests.conformance.backdrop import Backdrop
from tests.conformance.samples import NOW, job_for, lease, namesake, visitor_scope

CLOCK = NOW + timedelta(seconds=5)
"""When the store under test dates changes of records."""


class JobConformance:
    """The tests. A subclass provides `subject`, whose clock returns `CLOCK`, its `backdrop`, and a `broken` store."""

    @pytest.fixture
    def scope(self) -> Scope:
        return visitor_scope(visitor=uuid4().hex, action=Action.EXPORT)

    def test_a_record_is_stored_once_and_advances(self, subject: JobStore, scope: Scope) -> None:
        record = new_record(scope, Purpose.EXPORT, NOW, site="docs", parameters={"format": "jsonl"})
        subject.queue(scope, record)
        assert subject.job(scope, record.id) == record
        assert subject.advance(scope, record.id, JobState.RUNNING, progress={"messages": 3})
        subject.queue(scope, record)
        running = replace(record, state=JobState.RUNNING, progress={"messages": 3}, updated_at=CLOCK)
        assert subject.job(scope, record.id) == running
        assert subject.advance(scope, record.id, JobState.FAILED, progress={}, error="bundle_invalid")
        failed = replace(running, state=JobState.FAILED, progress={}, error="bundle_invalid")
        assert subject.job(scope, record.id) == failed

    def test_a_missing_record_is_not_created_by_advancing_it(self, subject: JobStore, scope: Scope) -> None:
        assert not subject.advance(scope, "j9", JobState.DONE, progress={})
        assert subject.job(scope, "j9") is None

    def test_a_record_belongs_to_its_owner(self, subject: JobStore, scope: Scope) -> None:
        record = new_record(scope, Purpose.EXPORT, NOW)
        subject.queue(scope, record)
        for other in (visitor_scope(visitor="x"), namesake(scope)):
            assert subject.job(other, record.id) is None
            assert not subject.advance(other, record.id, JobState.DONE, progress={})
        assert subject.job(scope, record.id) == record

    def test_one_worker_holds_the_lease_of_a_purpose(self, subject: JobStore, backdrop: Backdrop, scope: Scope) -> None:
        backdrop.begin(scope)
        job = job_for(scope)
        assert subject.begin(scope, job, lease("one")) == 0
        assert is_busy(subject, scope, lease("two"))
        assert subject.begin(scope, job, lease("one")) == 0
        assert subject.begin(scope, replace(job, purpose=Purpose.PROPOSE_FACTS), lease("two")) == 0
        subject.end(scope, job, lease("two"), 99)
        assert is_busy(subject, scope, lease("two"))
        subject.end(scope, job, lease("one"), 7)
        assert subject.begin(scope, job, lease("two")) == 7

    def test_a_lease_ends_at_its_time(self, subject: JobStore, backdrop: Backdrop, scope: Scope) -> None:
        backdrop.begin(scope)
        job = job_for(scope)
        assert subject.begin(scope, job, lease("dead")) == 0
        assert is_busy(subject, scope, lease("two", after=59))
        assert subject.begin(scope, job, lease("two", after=60)) == 0
        subject.end(scope, job, lease("dead"), 99)
        subject.end(scope, job, lease("two"), 3)
        assert subject.begin(scope, job, lease("three", after=61)) == 3

    @pytest.mark.parametrize(
        "changes", [{"incarnation": "i2"}, {"incarnation": None}, {"conversation": "c9"}, {"conversation": None}]
    )
    def test_no_lease_is_taken_on_another_conversation_than_the_jobs(
        self, subject: JobStore, backdrop: Backdrop, scope: Scope, changes: dict[str, str | None]
    ) -> None:
        backdrop.begin(scope)
        job = job_for(scope, **changes)
        assert subject.begin(scope, job, lease("one")) is None
        subject.end(scope, job, lease("one"), 3)
        assert subject.begin(scope, job_for(scope), lease("two")) == 0

    @pytest.mark.parametrize(
        "call",
        [
            lambda store, scope: store.queue(scope, new_record(scope, Purpose.EXPORT, NOW)),
            lambda store, scope: store.job(scope, "j1"),
            lambda store, scope: store.advance(scope, "j1", JobState.DONE, progress={}),
            lambda store, scope: store.begin(scope, job_for(scope), lease("one")),
            lambda store, scope: store.end(scope, job_for(scope), lease("one"), 1),
        ],
    )
    def test_an_unreachable_store_raises_one_error(
        self, broken: JobStore, scope: Scope, call: Callable[[JobStore, Scope], object]
    ) -> None:
        with pytest.raises(FencepostError) as raised:
            call(broken, scope)
        assert raised.value.code is ErrorCode.CONVERSATIONS_UNAVAILABLE


def is_busy(subject: JobStore, scope: Scope, wanted: WorkLease) -> bool:
    """Ask for a lease of work on `c1`, and tell whether another worker has it."""
    try:
        subject.begin(scope, job_for(scope), wanted)
    except FencepostError as error:
        return error.code is ErrorCode.CONVERSATION_BUSY
    return False
