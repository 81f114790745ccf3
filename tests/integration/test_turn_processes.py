"""Several processes on one conversation, and processes that die, on DynamoDB."""

from __future__ import annotations

import signal
from datetime import UTC, datetime
from typing import Literal

import pytest

from fencepost.model.domain import Role
from fencepost.turns.domain.turns import LEASE
from local.emulator import Emulator
from tests.fakes.answers import Fault
from tests.integration.turn_process import begin_together, job_of, start
from tests.integration.turn_stores import StoredTurns, stored_turns
from tests.worlds.turn import Killed, Process
from tests.worlds.turn_rules import CALLS, COST, check_answered_once, check_bill, check_messages

DEATHS = [(call, when) for call in CALLS for when in ("before", "after")]
TURNS = 50
THINKS = 0.2


@pytest.fixture
def stored(emulator: Emulator) -> StoredTurns:
    return stored_turns(emulator.endpoint_url)


@pytest.mark.parametrize("death", DEATHS, ids=str)
def test_whenever_a_process_dies_a_retry_makes_the_turn_whole(stored: StoredTurns, death: tuple[str, Fault]) -> None:
    world = stored.world
    with pytest.raises(Killed):
        world.say(process=Process(death))
    answer = world.say_until_answered()
    check_answered_once(world.messages(answer.conversation_id), "m1")
    calls = len(world.model.prompts)
    check_bill(stored.bill(), calls)
    assert world.say() == answer
    assert len(world.model.prompts) == calls


@pytest.mark.parametrize("death", [death for death in DEATHS if death[0] in ("turns.claim", "turns.settle")], ids=str)
def test_whenever_a_process_dies_the_conversation_goes_on(stored: StoredTurns, death: tuple[str, Fault]) -> None:
    world = stored.world
    conversation = world.say("Hello", "m0").conversation_id
    with pytest.raises(Killed):
        world.say("What now?", "m1", conversation, process=Process(death))
    world.say_until_answered("And then?", "m2", conversation)
    check_messages(world.messages(conversation))
    world.say_until_answered("What now?", "m1", conversation)
    check_answered_once(world.messages(conversation), "m0", "m1", "m2")
    check_bill(stored.bill(), len(world.model.prompts))


@pytest.mark.parametrize(
    "death", [("turns.claim", "after"), ("model.complete", "after"), ("turns.settle", "after")], ids=str
)
def test_a_process_that_is_killed_for_good_loses_nothing(
    emulator: Emulator, stored: StoredTurns, death: tuple[str, Literal["before", "after"]]
) -> None:
    world = stored.world
    conversation = world.say("Hello", "m0").conversation_id
    job = job_of(stored, emulator.endpoint_url, "killed", conversation=conversation, dies=death)
    with start(job) as process:
        assert process.wait(60) == -signal.SIGKILL
    pending = world.messages(conversation)
    check_messages(pending)
    assert [one.id for one in pending if one.role is Role.USER] == ["m0", "killed-0"]
    world.clock.now = datetime.now(UTC) + LEASE
    answer = world.say_until_answered("Question 0 of killed", "killed-0", conversation)
    assert answer.answer.id == "killed-0.1"
    check_answered_once(world.messages(conversation), "m0", "killed-0")


def test_two_processes_talk_in_one_conversation_in_a_total_order(emulator: Emulator, stored: StoredTurns) -> None:
    conversation = stored.world.say("Hello", "m0").conversation_id
    url = emulator.endpoint_url
    jobs = [
        job_of(stored, url, name, turns=TURNS, conversation=conversation, waits=True, thinks=THINKS) for name in "ab"
    ]
    processes = [start(job) for job in jobs]
    begin_together(processes)
    for name, process in zip("ab", processes, strict=True):
        output, _ = process.communicate(timeout=240)
        assert process.returncode == 0
        assert output.split() == [f"{name}-{number}.1" for number in range(TURNS)]
    messages = stored.world.messages(conversation)
    asked = [f"{name}-{number}" for name in "ab" for number in range(TURNS)]
    check_answered_once(messages, "m0", *asked)
    # One turn at a time: each answer follows its question at once, and each process's questions are in its own order.
    assert all(answer.reply_to == answer.seq - 1 for answer in messages if answer.role is Role.ASSISTANT)
    for name in "ab":
        own = [one.id for one in messages if one.role is Role.USER and one.id.startswith(name)]
        assert own == [f"{name}-{number}" for number in range(TURNS)]
    interleaved = [one.id[0] for one in messages if one.role is Role.USER][1:]
    assert interleaved != sorted(interleaved)
    assert sum(bill.spent for bill in stored.bills()) == COST * (2 * TURNS + 1)
    assert all(bill.committed == bill.spent for bill in stored.bills())
