"""Jobs are authorised when they run, are dropped if their target changed, and may be delivered again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fencepost.identity.domain.scope import Action, Member, Membership, OrgRole, Scope, authorize, own
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.observability.domain.events import AuthorizationEvent
from fencepost.queue.domain import Job, JobState, Purpose
from fencepost.queue.service import new_record
from tests.worlds.jobs import VISITOR, JobsWorld, scope_of

MEMBER = "member:u1"


@pytest.fixture
def world() -> JobsWorld:
    world = JobsWorld()
    world.talk(1)
    return world


class Handler:
    """Remembers what it was given, and fails as often as it is told to."""

    def __init__(self, *failures: ErrorCode | Exception) -> None:
        self.calls: list[tuple[Scope, Job]] = []
        self.failures = list(failures)

    def __call__(self, scope: Scope, job: Job) -> None:
        self.calls.append((scope, job))
        if self.failures:
            failure = self.failures.pop(0)
            raise FencepostError(failure) if isinstance(failure, ErrorCode) else failure


def member_scope(action: Action = Action.EXPORT) -> Scope:
    caller = Member("acme", "u1", Membership("acme", "u1", OrgRole.MEMBER, active=True, version=1))
    return authorize(caller, action, own(caller))


def test_a_visitors_job_runs_in_the_visitors_scope(world: JobsWorld) -> None:
    handler = Handler()
    world.runner(TITLE=handler).run(world.job(Purpose.TITLE))
    [(scope, _)] = handler.calls
    assert (scope.org, scope.owner, scope.action) == ("acme", VISITOR.owner, Action.WRITE)
    assert world.events.jobs == [("done", None)]


def test_a_members_job_runs_under_the_membership_of_this_moment(world: JobsWorld) -> None:
    handler = Handler()
    world.directory.memberships["acme", "u1"] = Membership("acme", "u1", OrgRole.MEMBER, active=True, version=7)
    record = new_record(member_scope(), Purpose.EXPORT, world.clock())
    world.jobs.queue(member_scope(), record)
    world.runner(EXPORT=handler).run(record.job)
    assert [scope.permission_version for scope, _ in handler.calls] == [7]


def _no_member(world: JobsWorld) -> Job:
    return world.job(owner=MEMBER, actor=MEMBER)


def _suspended(world: JobsWorld) -> Job:
    world.join(active=False)
    return world.job(owner=MEMBER, actor=MEMBER)


def _foreign(world: JobsWorld) -> Job:
    world.join()
    return world.job(owner="member:u2", actor=MEMBER)


def _site_closed(world: JobsWorld) -> Job:
    site = world.directory.sites["acme", "docs"]
    world.directory.sites["acme", "docs"] = replace(site, active=False)
    return world.job()


def _site_missing(world: JobsWorld) -> Job:
    return world.job(site="elsewhere")


def _erased(world: JobsWorld) -> Job:
    world.shelf.conversations.clear()
    return world.job()


def _came_back(world: JobsWorld) -> Job:
    return world.job(incarnation="i0")


def _record_gone(world: JobsWorld) -> Job:
    return world.job(Purpose.SUMMARISE, record="j1")


REFUSALS: dict[str, Callable[[JobsWorld], Job]] = {
    "not_a_member": _no_member,
    "suspended": _suspended,
    "owner_mismatch": _foreign,
    "site_inactive": _site_closed,
    "conversation_gone": _erased,
    "incarnation_changed": _came_back,
    "owner_erased": _record_gone,
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_what_is_not_allowed_any_more_is_refused_once_and_counted(world: JobsWorld, reason: str) -> None:
    handler = Handler()
    world.runner(SUMMARISE=handler).run(REFUSALS[reason](world))
    assert not handler.calls
    assert world.events.jobs == [("refused", reason)]


@pytest.mark.parametrize(
    ("purpose", "ending"),
    [
        (Purpose.SUMMARISE, ("refused", "site_inactive")),
        (Purpose.PROPOSE_FACTS, ("refused", "site_inactive")),
        (Purpose.TITLE, ("done", None)),
    ],
)
def test_a_closed_site_pays_for_nothing_whoever_talks_there(
    world: JobsWorld, purpose: Purpose, ending: tuple[str, str | None]
) -> None:
    world.join()
    world.talk(1, member_scope(Action.WRITE), "c2")
    _site_closed(world)
    handler = Handler()
    world.runner(**{purpose.name: handler}).run(world.job(purpose, owner=MEMBER, actor=MEMBER, conversation="c2"))
    assert world.events.jobs == [ending]
    assert bool(handler.calls) is (ending[0] == "done")


def test_what_was_said_on_a_closed_site_can_be_taken_away(world: JobsWorld) -> None:
    handler, scope = Handler(), scope_of(action=Action.EXPORT)
    record = new_record(scope, Purpose.EXPORT, world.clock(), site="docs")
    world.jobs.queue(scope, record)
    _site_closed(world)
    world.runner(EXPORT=handler).run(record.job)
    assert world.events.jobs == [("done", None)]
    assert len(handler.calls) == 1


def test_a_job_of_a_site_that_is_gone_is_refused(world: JobsWorld) -> None:
    world.run(_site_missing(world))
    assert world.events.jobs == [("refused", "site_inactive")]


def test_a_job_that_is_retried_after_a_revocation_is_refused(world: JobsWorld) -> None:
    handler = Handler(ErrorCode.CONVERSATIONS_UNAVAILABLE)
    world.join()
    scope = member_scope(Action.WRITE)
    world.talk(1, scope, "c2")
    job = world.job(owner=MEMBER, actor=MEMBER, conversation="c2")
    runner = world.runner(SUMMARISE=handler)
    with pytest.raises(FencepostError):
        runner.run(job)
    world.join(active=False)
    runner.run(job, attempt=2)
    assert len(handler.calls) == 1
    assert world.events.jobs == [("retried", "conversations_unavailable"), ("refused", "suspended")]


def test_each_decision_is_an_event_of_its_own(world: JobsWorld) -> None:
    world.runner(TITLE=Handler()).run(world.job(Purpose.TITLE))
    world.run(_no_member(world))
    decisions = [event for event in world.events.seen if isinstance(event, AuthorizationEvent)]
    assert [(event.at, event.decision, event.reason) for event in decisions] == [
        ("job", "allowed", None),
        ("job", "denied", "not_a_member"),
    ]


@pytest.mark.parametrize("code", [ErrorCode.CONVERSATIONS_UNAVAILABLE, ErrorCode.PROVIDER_OVERLOADED])
def test_what_may_pass_comes_again(world: JobsWorld, code: ErrorCode) -> None:
    runner = world.runner(TITLE=Handler(code))
    with pytest.raises(FencepostError):
        runner.run(world.job(Purpose.TITLE))
    runner.run(world.job(Purpose.TITLE), attempt=2)
    assert world.events.jobs == [("retried", code), ("done", None)]


@pytest.mark.parametrize(
    "code", [ErrorCode.DAILY_SPEND_EXHAUSTED, ErrorCode.PROVIDER_REFUSED, ErrorCode.BUNDLE_INVALID]
)
def test_what_will_not_pass_is_done_with(world: JobsWorld, code: ErrorCode) -> None:
    world.runner(TITLE=Handler(code)).run(world.job(Purpose.TITLE))
    assert world.events.jobs == [("failed", code)]


def _recorded(world: JobsWorld) -> Job:
    record = new_record(scope_of(action=Action.EXPORT), Purpose.EXPORT, world.clock(), site="docs")
    world.jobs.queue(scope_of(), record)
    return record.job


@pytest.mark.parametrize(
    ("failure", "last", "state", "error"),
    [
        (ErrorCode.CONVERSATIONS_UNAVAILABLE, False, JobState.QUEUED, None),
        (ErrorCode.CONVERSATIONS_UNAVAILABLE, True, JobState.FAILED, "conversations_unavailable"),
        (ErrorCode.BUNDLE_INVALID, False, JobState.FAILED, "bundle_invalid"),
        (ZeroDivisionError(), False, JobState.QUEUED, None),
        (ZeroDivisionError(), True, JobState.FAILED, "internal_error"),
    ],
)
def test_whoever_waits_for_a_job_learns_when_nobody_tries_again(
    world: JobsWorld, failure: Any, last: bool, state: JobState, error: str | None
) -> None:
    job = _recorded(world)
    runner = world.runner(EXPORT=Handler(failure))
    passing = failure is not ErrorCode.BUNDLE_INVALID
    if passing:
        with pytest.raises((FencepostError, ZeroDivisionError)):
            runner.run(job, last=last)
    else:
        runner.run(job, last=last)
    record = world.jobs.job(scope_of(), job.record or "")
    assert record is not None
    assert (record.state, record.error) == (state, error)


def test_a_job_that_is_done_is_not_done_again(world: JobsWorld) -> None:
    job, handler = _recorded(world), Handler()
    world.jobs.advance(scope_of(), job.record or "", JobState.DONE, progress={"messages": 3})
    world.runner(EXPORT=handler).run(job)
    assert not handler.calls
    assert world.events.jobs == [("superseded", None)]


def test_an_erasure_goes_on_although_whoever_asked_for_it_is_no_member_any_more(world: JobsWorld) -> None:
    handler = Handler()
    record = new_record(member_scope(Action.ERASE), Purpose.ERASE, world.clock(), conversation="c9")
    world.runner(ERASE=handler).run(record.job)
    [(scope, _)] = handler.calls
    assert (scope.org, scope.owner, scope.action) == ("acme", MEMBER, Action.ERASE)


def test_an_erasure_that_was_given_up_goes_on_when_it_is_brought_back(world: JobsWorld) -> None:
    handler = Handler()
    record = new_record(scope_of(action=Action.ERASE), Purpose.ERASE, world.clock(), site="docs")
    world.jobs.queue(scope_of(), record)
    for state, calls in ((JobState.FAILED, 1), (JobState.DONE, 1)):
        world.jobs.advance(scope_of(), record.id, state, progress={})
        world.runner(ERASE=handler).run(record.job)
        assert len(handler.calls) == calls
    assert world.events.jobs == [("done", None), ("superseded", None)]


def test_no_event_names_anybody(world: JobsWorld) -> None:
    world.runner(TITLE=Handler()).run(world.job(Purpose.TITLE))
    assert not any(word in repr(event) for event in world.events.seen for word in ("acme", VISITOR.owner, "c1", "i1"))


def test_the_directory_not_answering_makes_the_job_come_again(world: JobsWorld) -> None:
    world.directory.faults.append("before")
    with pytest.raises(FencepostError):
        world.run(world.job(owner=MEMBER, actor=MEMBER))
    assert world.events.jobs == [("retried", "conversations_unavailable")]
