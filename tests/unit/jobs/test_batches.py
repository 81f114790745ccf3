"""Batches of stream and queue: records are processed one by one, and only failed ones are delivered again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from fencepost.identity.domain.scope import Scope
from fencepost.jobs.handlers.consumer import JobQueueConsumer
from fencepost.jobs.handlers.relay import Relay
from fencepost.jobs.service.runner import JobRunner
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.model.domain import Prompt
from fencepost.observability.domain.events import BatchEvent, JobEvent
from fencepost.queue.domain import ATTEMPTS, Job, JobState, Purpose, WorkLease, retry_delay
from fencepost.queue.service import WORK_SECONDS, new_record
from fencepost.queue.sqs import message
from local import template
from tests.fakes.memory import FakeQueue, FakeRetries
from tests.worlds.jobs import ROOMY, FakeEvents, JobsWorld, notes_of, scope_of

ANSWERS: dict[str, int | Exception] = {"good": 2, "bad": ValueError("secret words"), "none": 0}


class FakeOutbox:
    """Makes as many jobs of a record as its name says, or fails."""

    def __init__(self, world: JobsWorld) -> None:
        self.world = world

    def __call__(self, record: Mapping[str, Any]) -> list[Job]:
        answer = ANSWERS[record["name"]]
        if isinstance(answer, Exception):
            raise answer
        return [self.world.job(Purpose.TITLE)] * answer


def stream(*names: str) -> dict[str, Any]:
    """Return an event of the stream; sequence numbers count from 1."""
    return {
        "Records": [
            {"name": name, "eventSource": "aws:dynamodb", "dynamodb": {"SequenceNumber": str(number)}}
            for number, name in enumerate(names, 1)
        ]
    }


def messages(*bodies: str, attempt: int = 1) -> dict[str, Any]:
    """Return an event of the queue; messages are named `m1`, `m2` …"""
    return {
        "Records": [
            {
                "messageId": f"m{number}",
                "receiptHandle": f"receipt {number}",
                "body": body,
                "attributes": {"ApproximateReceiveCount": str(attempt)},
                "eventSource": "aws:sqs",
            }
            for number, body in enumerate(bodies, 1)
        ]
    }


def consumer_of(world: JobsWorld, runner: JobRunner | None = None) -> JobQueueConsumer:
    return JobQueueConsumer(runner or world.runner(), FakeRetries(), world.events)


def failed(answer: Mapping[str, Any]) -> list[str]:
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def batch_of(log: FakeEvents) -> BatchEvent:
    [event] = [event for event in log.seen if isinstance(event, BatchEvent)]
    return event


@pytest.fixture
def world() -> JobsWorld:
    world = JobsWorld()
    world.talk(1)
    return world


def test_the_relay_queues_what_each_record_asks_for(world: JobsWorld) -> None:
    queue, log = FakeQueue(), FakeEvents()
    assert failed(Relay(FakeOutbox(world), queue, log)(stream("good", "none", "good"), None)) == []
    assert len(queue.jobs) == 4
    assert (batch_of(log).records, batch_of(log).failed) == (3, 0)
    assert [event.result for event in log.seen if isinstance(event, JobEvent)] == ["queued"] * 4


def test_a_record_that_is_none_of_ours_fails_alone_and_unquoted(world: JobsWorld) -> None:
    queue, log = FakeQueue(), FakeEvents()
    assert failed(Relay(FakeOutbox(world), queue, log)(stream("good", "bad", "good"), None)) == ["2"]
    assert len(queue.jobs) == 4
    assert (batch_of(log).failed, batch_of(log).unreadable) == (0, 1)
    assert "secret words" not in repr(log.seen)


def test_a_queue_that_does_not_answer_makes_the_record_come_again(world: JobsWorld) -> None:
    queue, log = FakeQueue(), FakeEvents()
    queue.faults.due.extend([None, "before", "after"])
    assert failed(Relay(FakeOutbox(world), queue, log)(stream("good", "good", "good"), None)) == ["2", "3"]
    assert batch_of(log).failed == 2


def test_a_batch_of_failures_alone_is_an_answer_too(world: JobsWorld) -> None:
    assert failed(Relay(FakeOutbox(world), FakeQueue(), FakeEvents())(stream("bad", "bad"), None)) == ["1", "2"]


def test_of_a_batch_of_jobs_only_the_failed_one_comes_again(world: JobsWorld) -> None:
    def unavailable(_: Scope, job: Job) -> None:
        if job.revises:
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)

    consumer = consumer_of(world, world.runner(TITLE=unavailable))
    good, bad = world.job(Purpose.TITLE), world.job(Purpose.TITLE, revises=True)
    answer = consumer(messages(message(good), message(bad), message(good)), None)
    assert failed(answer) == ["m2"]
    assert [result for result, _ in world.events.jobs] == ["done", "retried", "done"]


@pytest.mark.parametrize("poison", ["", "{}", "no JSON", '{"purpose": "rule the world"}', json.dumps({"org": "acme"})])
def test_poison_fails_alone_and_is_not_quoted(world: JobsWorld, poison: str) -> None:
    consumer = consumer_of(world)
    assert failed(consumer(messages(poison, message(world.job(Purpose.TITLE))), None)) == ["m1"]
    assert batch_of(world.events).unreadable == 1
    assert "rule the world" not in repr(world.events.seen)


def test_a_fault_of_ours_fails_alone_and_is_reported(world: JobsWorld) -> None:
    def broken(_: Scope, job: Job) -> None:
        raise ZeroDivisionError(job.conversation)

    consumer = consumer_of(world, world.runner(ARCHIVE=broken))
    bodies = [message(world.job(purpose)) for purpose in (Purpose.ARCHIVE, Purpose.TITLE)]
    assert failed(consumer(messages(*bodies), None)) == ["m1"]
    assert [type(error) for error in world.events.unexpected] == [ZeroDivisionError]
    assert world.events.jobs == [("retried", "internal_error"), ("done", None)]


def test_a_purpose_that_nobody_serves_fails_and_is_reported(world: JobsWorld) -> None:
    consumer = consumer_of(world)
    assert failed(consumer(messages(message(world.job(Purpose.IMPORT))), None)) == ["m1"]
    assert [type(error) for error in world.events.unexpected] == [KeyError]
    assert world.events.jobs == [("retried", "internal_error")]


def test_a_job_is_not_begun_that_could_be_stopped_in_the_middle(world: JobsWorld) -> None:
    class Context:
        left = iter((120_000, 60_000))

        def get_remaining_time_in_millis(self) -> int:
            return next(self.left)

    consumer = consumer_of(world)
    body = message(world.job(Purpose.TITLE))
    assert failed(consumer(messages(body, body), Context())) == ["m2"]
    assert world.events.jobs == [("done", None)]


def test_refused_jobs_do_not_come_again(world: JobsWorld) -> None:
    consumer = consumer_of(world)
    assert failed(consumer(messages(message(world.job(incarnation="i0"))), None)) == []
    assert world.events.jobs == [("refused", "incarnation_changed")]


@pytest.mark.parametrize(("attempt", "state"), [(ATTEMPTS - 1, JobState.QUEUED), (ATTEMPTS, JobState.FAILED)])
def test_the_last_attempt_tells_whoever_waits(world: JobsWorld, attempt: int, state: JobState) -> None:
    def unavailable(_scope: Scope, _job: Job) -> None:
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)

    record = new_record(scope_of(), Purpose.EXPORT, world.clock(), site="docs")
    world.jobs.queue(scope_of(), record)
    consumer = consumer_of(world, world.runner(EXPORT=unavailable))
    assert failed(consumer(messages(message(record.job), attempt=attempt), None)) == ["m1"]
    stored = world.jobs.job(scope_of(), record.id)
    assert stored is not None
    assert stored.state is state


def test_a_message_that_is_delivered_twice_does_its_work_once(world: JobsWorld) -> None:
    world.talk(8)
    consumer = consumer_of(world)
    body = message(world.job())
    consumer(messages(body, body), None)
    consumer(messages(body), None)
    assert len(world.ask.prompts) == 1


def test_messages_may_come_in_any_order(world: JobsWorld) -> None:
    early = message(world.job(Purpose.TITLE))
    world.talk(8)
    late = [message(world.job()), message(world.job(Purpose.PROPOSE_FACTS))]
    consumer_of(world)(messages(*late, early), None)
    row = world.row(scope_of(), "c1")
    assert row is not None
    assert row.title == "Question 1?"
    assert row.summarised_through > 0


def test_one_instance_serves_many_tenants_and_keeps_nothing_of_them(world: JobsWorld) -> None:
    consumer = consumer_of(world)
    ours, theirs = world.job(Purpose.TITLE), replace(world.job(Purpose.TITLE), org="umbrella")
    consumer(messages(message(ours), message(theirs)), None)
    assert world.events.jobs == [("done", None), ("refused", "site_inactive")]


@pytest.mark.parametrize("failure", [FencepostError(ErrorCode.PROVIDER_TIMEOUT), ZeroDivisionError()])
def test_a_failed_message_comes_again_soon_and_later_each_time(world: JobsWorld, failure: Exception) -> None:
    def failing(_scope: Scope, _job: Job) -> None:
        raise failure

    retries, bodies = FakeRetries(), [message(world.job(purpose)) for purpose in (Purpose.TITLE, Purpose.ARCHIVE)]
    consumer = JobQueueConsumer(world.runner(ARCHIVE=failing), retries, world.events)
    for attempt in range(1, ATTEMPTS + 1):
        assert failed(consumer(messages(*bodies, attempt=attempt), None)) == ["m2"]
    assert {receipt for receipt, _ in retries.due} == {"receipt 2"}
    assert [delay.total_seconds() for _, delay in retries.due] == [10, 60, 360, 2_160, 0]


def _deliver(world: JobsWorld, job: Job) -> list[int]:
    """Let the queue bring a message until it is done, each time when its delay is over; return the attempts it took."""
    for attempt in range(1, ATTEMPTS + 1):
        retries = FakeRetries()
        answer = JobQueueConsumer(world.runner(), retries, world.events)(messages(message(job), attempt=attempt), None)
        if not failed(answer):
            return list(range(1, attempt + 1))
        [(_, delay)] = retries.due
        world.clock.advance(delay.total_seconds())
    raise AssertionError("the message is among the dead letters")


@pytest.mark.parametrize("purpose", [Purpose.SUMMARISE, Purpose.PROPOSE_FACTS])
def test_the_work_of_a_worker_that_died_is_done_within_the_retries(world: JobsWorld, purpose: Purpose) -> None:
    world.directory.add_site(budgets=ROOMY, facts="propose")
    world.talk(8)
    job, now = world.job(purpose), world.clock()
    world.jobs.begin(scope_of(), job, WorkLease("dead", now, now + timedelta(seconds=WORK_SECONDS)))
    assert _deliver(world, job) == [1, 2, 3, 4]
    assert len(world.ask.prompts) == 1
    assert world.events.jobs[-2:] == [("retried", "conversation_busy"), ("done", None)]


def test_a_job_that_failed_and_could_not_give_its_lease_back_is_done_all_the_same(world: JobsWorld) -> None:
    world.talk(8)
    failures = iter([FencepostError(ErrorCode.PROVIDER_OVERLOADED)])

    def overloaded(prompt: Prompt) -> str:
        for failure in failures:
            raise failure
        return notes_of(prompt)

    world.ask.says = overloaded
    world.jobs.faults.due.extend([None, "before"])
    _deliver(world, world.job())
    assert [result for result, _ in world.events.jobs] == ["retried", "retried", "retried", "done"]
    assert world.memory.summary(scope_of(), "c1") is not None


def test_poison_reaches_the_dead_letters_by_the_same_steps(world: JobsWorld) -> None:
    retries = FakeRetries()
    JobQueueConsumer(world.runner(), retries, world.events)(messages("poison", attempt=2), None)
    assert retries.due == [("receipt 1", retry_delay(2))]


def test_a_queue_that_cannot_be_told_brings_the_message_when_its_own_timeout_is_over(world: JobsWorld) -> None:
    retries = FakeRetries()
    retries.faults.due.append("before")
    consumer = JobQueueConsumer(world.runner(), retries, world.events)
    assert failed(consumer(messages("poison", message(world.job(Purpose.TITLE))), None)) == ["m1"]
    assert world.events.unexpected == []
    assert world.events.jobs == [("done", None)]


def test_the_template_delivers_as_often_as_the_code_counts() -> None:
    queue = template.load()["Resources"]["JobsQueue"]["Properties"]
    function = template.load()["Resources"]["JobsFunction"]["Properties"]
    assert queue["RedrivePolicy"]["maxReceiveCount"] == ATTEMPTS
    assert queue["VisibilityTimeout"] >= 6 * function["Timeout"]
    # SQS hides no message for longer than twelve hours.
    assert max(map(retry_delay, range(1, ATTEMPTS + 1))) < timedelta(hours=12)
