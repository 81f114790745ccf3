"""A process dies before or after any call of a port, and a retry makes it whole."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.model.domain import ModelError
from tests.fakes.answers import Fault
from tests.worlds.chat import fails
from tests.worlds.thoroughness import examples
from tests.worlds.turn import Killed, Process, TurnWorld
from tests.worlds.turn_rules import CALLS, check_answered_once, check_bill, check_messages

QUESTION = "How do I install it?"
DEATHS = [(call, when) for call in CALLS for when in ("before", "after")]
OTHERS = ("turns.park", "turns.stored_answer")
LATER = [(call, when) for call in OTHERS for when in ("before", "after")]


def bill_of(world: TurnWorld) -> None:
    check_bill(world.books.bill(world.clock.now.date()), len(world.model.prompts))


@pytest.mark.parametrize("death", DEATHS, ids=str)
def test_a_first_message_is_stored_and_answered_once(death: tuple[str, Fault]) -> None:
    world = TurnWorld()
    with pytest.raises(Killed):
        world.say(process=Process(death))
    answer = world.say_until_answered()
    check_answered_once(world.messages(answer.conversation_id), "m1")
    bill_of(world)
    calls = len(world.model.prompts)
    assert world.say() == answer
    assert len(world.model.prompts) == calls
    assert len(world.shelf.conversations) == 1


@pytest.mark.parametrize("death", DEATHS, ids=str)
def test_another_message_goes_on_after_a_crash_and_the_first_one_is_not_lost(death: tuple[str, Fault]) -> None:
    world = TurnWorld()
    conversation = world.say("Hello", "m0").conversation_id
    with pytest.raises(Killed):
        world.say(QUESTION, "m1", conversation, process=Process(death))
    world.say_until_answered("And then?", "m2", conversation)
    check_messages(world.messages(conversation))
    world.say_until_answered(QUESTION, "m1", conversation)
    # A process that died before it claimed has stored nothing; its client's retry is then simply the third message.
    check_answered_once(world.messages(conversation), "m0", "m1", "m2")
    bill_of(world)


@pytest.mark.parametrize("second", [*DEATHS, *LATER], ids=str)
@pytest.mark.parametrize("first", [("turns.claim", "after"), ("model.complete", "after"), ("turns.settle", "after")])
def test_the_retry_may_die_as_well(first: tuple[str, Fault], second: tuple[str, Fault]) -> None:
    world = TurnWorld()
    with pytest.raises(Killed):
        world.say(process=Process(first))
    with suppress(Killed, FencepostError):
        world.say(process=Process(second))
    world.clock.advance(31)
    with suppress(Killed):
        world.say(process=Process(second))
    answer = world.say_until_answered()
    check_answered_once(world.messages(answer.conversation_id), "m1")
    bill_of(world)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("failing", range(4))
def test_a_store_that_fails_costs_an_error_and_nothing_else(failing: int, when: Fault) -> None:
    world = TurnWorld()
    world.turns.faults.due.extend([*[None] * failing, when])
    with suppress(FencepostError):
        world.say()
    world.turns.faults.due.clear()
    answer = world.say_until_answered()
    check_answered_once(world.messages(answer.conversation_id), "m1")
    bill_of(world)


deaths = st.tuples(st.sampled_from([*CALLS, *OTHERS]), st.sampled_from(["before", "after"]))
turns = st.tuples(st.sampled_from(["m1", "m2", "m3"]), st.none() | deaths, st.sampled_from([0.0, 4.0, 31.0]))


@settings(deadline=None, max_examples=examples(200))
@given(st.lists(turns, max_size=12))
def test_any_sequence_of_crashes_ends_in_an_ordered_conversation(
    attempts: list[tuple[str, tuple[str, Fault] | None, float]],
) -> None:
    world = TurnWorld()
    conversation = world.say("Hello", "m0").conversation_id
    for message_id, death, seconds in attempts:
        with suppress(Killed, FencepostError):
            world.say(f"Question {message_id}", message_id, conversation, process=Process(death))
        check_messages(world.messages(conversation))
        world.clock.advance(seconds)
    for message_id in ("m1", "m2", "m3"):
        world.say_until_answered(f"Question {message_id}", message_id, conversation)
    check_answered_once(world.messages(conversation), "m0", "m1", "m2", "m3")
    bill_of(world)


def test_the_retry_of_a_dead_turn_pays_with_a_permit_of_its_own() -> None:
    world = TurnWorld()
    with pytest.raises(Killed):
        world.say(process=Process(("turns.settle", "before")))
    world.say_until_answered()
    assert len(world.model.prompts) == world.books.bill(world.clock.now.date()).calls == 2


def test_a_model_that_fails_leaves_the_question_for_a_retry_that_need_not_wait() -> None:
    world = TurnWorld()
    reply = world.model.reply
    world.model.reply = fails(ModelError(ErrorCode.PROVIDER_FAILED, usage=None))
    with pytest.raises(FencepostError):
        world.say()
    world.model.reply = reply
    answer = world.say()
    assert world.pauses == []
    check_answered_once(world.messages(answer.conversation_id), "m1")
