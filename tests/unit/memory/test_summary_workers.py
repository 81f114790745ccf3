"""Workers that make a summary: one at a time, and none that died or was refused is in the way."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.model.domain import Prompt
from fencepost.queue.domain import WorkLease
from tests.worlds.jobs import JobsWorld, notes_of, scope_of, summary_of


@pytest.fixture
def world() -> JobsWorld:
    return JobsWorld()


def test_of_two_workers_one_asks_the_model(world: JobsWorld) -> None:
    world.talk(8)
    other = world.runner()

    def meanwhile(prompt: Prompt) -> str:
        with pytest.raises(FencepostError, match=r"^conversation_busy$"):
            other.run(world.job())
        return notes_of(prompt)

    world.ask.says = meanwhile
    world.run(world.job())
    world.run(world.job())
    assert world.events.jobs == [("retried", "conversation_busy"), ("done", None), ("done", None)]
    assert len(world.ask.prompts) == 1
    assert summary_of(world).first_seq == 1


@pytest.mark.parametrize("revises", [True, False])
def test_a_job_that_meets_another_worker_comes_again(world: JobsWorld, revises: bool) -> None:
    world.talk(8)
    lease = WorkLease("somebody", world.clock(), world.clock() + timedelta(seconds=60))
    world.jobs.begin(scope_of(), world.job(), lease)
    with pytest.raises(FencepostError) as raised:
        world.run(world.job(revises=revises))
    assert raised.value.code is ErrorCode.CONVERSATION_BUSY
    assert world.events.jobs == [("retried", "conversation_busy")]


def test_the_lease_of_a_worker_that_died_ends_by_itself(world: JobsWorld) -> None:
    world.talk(8)
    world.jobs.begin(scope_of(), world.job(), WorkLease("dead", world.clock(), world.clock()))
    world.run(world.job())
    assert summary_of(world).first_seq == 1


@pytest.mark.parametrize("code", [ErrorCode.DAILY_SPEND_EXHAUSTED, ErrorCode.PROVIDER_OVERLOADED])
def test_a_model_that_cannot_be_had_leaves_the_lease_free_and_the_summary_as_it_was(
    world: JobsWorld, code: ErrorCode
) -> None:
    def unavailable(_: Prompt) -> str:
        raise FencepostError(code)

    world.talk(8)
    world.ask.says = unavailable
    if code is ErrorCode.PROVIDER_OVERLOADED:
        with pytest.raises(FencepostError):
            world.run(world.job())
    else:
        world.run(world.job())
    assert world.memory.summary(scope_of(), "c1") is None
    world.ask.says = None
    world.run(world.job())
    assert summary_of(world).first_seq == 1
