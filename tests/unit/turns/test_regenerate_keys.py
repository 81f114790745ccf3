"""A client's key for an answer that is made anew: however often it comes, one revision is made, and paid for, once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from fencepost.conversations.domain.messages import MessageStatus
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.observability.service import Trace
from fencepost.turns.domain.turns import LEASE, TurnAnswer
from tests.fakes.answers import Fault
from tests.worlds.turn import ANN, Killed, Process, TurnWorld
from tests.worlds.turn_rules import CALLS, check_bill, check_messages
from tests.worlds.turn_scenes import refused

DEATHS = [(call, when) for call in (*CALLS, "turns.stored_answer") for when in ("before", "after")]


@pytest.fixture
def world() -> TurnWorld:
    world = TurnWorld()
    world.say()
    return world


def anew(
    world: TurnWorld, key: str | None = "k1", message_id: str = "m1", process: Process | None = None
) -> TurnAnswer:
    return world.service(process).regenerate(ANN, message_id, Trace(), key=key)


def anew_until_answered(world: TurnWorld, key: str | None = "k1") -> TurnAnswer:
    for _ in range(60):
        with suppress(FencepostError):
            return anew(world, key)
        world.clock.advance(1)
    raise AssertionError("the conversation stayed busy")


def vanish(world: TurnWorld, key: str | None) -> None:
    """Let a regeneration begin, and its process vanish before it reaches the model."""
    with pytest.raises(Killed):
        anew(world, key, process=Process(("ledger.reserve", "before")))


def paid(world: TurnWorld) -> int:
    return len(world.model.prompts)


@pytest.mark.parametrize("named", ["m1", "m1.1", "m1.2"])
def test_a_retry_gets_the_revision_that_was_made_for_its_key(world: TurnWorld, named: str) -> None:
    first = anew(world)
    assert anew(world, message_id=named) == first
    assert first.answer.id == "m1.2"
    assert paid(world) == 2


def test_a_key_gets_its_own_revision_when_newer_ones_and_messages_have_followed(world: TurnWorld) -> None:
    first, second, third = anew(world, "k1"), anew(world, "k2"), anew(world, None)
    assert [one.answer.id for one in (first, second, third)] == ["m1.2", "m1.3", "m1.4"]
    world.say("And then?", "m2", first.conversation_id)
    assert [anew(world, key).answer.id for key in ("k1", "k2")] == ["m1.2", "m1.3"]
    assert refused(lambda: anew(world, "k3")).code is ErrorCode.REGENERATE_NOT_LAST
    assert paid(world) == 5


def test_a_key_is_its_messages_own(world: TurnWorld) -> None:
    conversation = anew(world).conversation_id
    world.say("And then?", "m2", conversation)
    assert anew(world, message_id="m2").answer.id == "m2.2"


def test_without_a_key_each_request_is_one_of_its_own(world: TurnWorld) -> None:
    assert [anew(world, None).answer.id for _ in range(2)] == ["m1.2", "m1.3"]
    assert paid(world) == 3


@pytest.mark.parametrize("death", DEATHS, ids=str)
def test_a_retry_after_a_crash_makes_one_revision(world: TurnWorld, death: tuple[str, Fault]) -> None:
    with suppress(Killed):
        anew(world, process=Process(death))
    answer = anew_until_answered(world)
    calls = paid(world)
    assert anew(world) == answer
    rows = world.messages(answer.conversation_id)
    check_messages(rows)
    assert [one.id for one in rows] == ["m1", "m1.1", "m1.2"]
    assert [one.status for one in rows[1:]] == [MessageStatus.SUPERSEDED, MessageStatus.COMPLETE]
    assert paid(world) == calls
    check_bill(world.books.bill(world.clock.now.date()), calls)


def running_meanwhile(world: TurnWorld, key: str | None) -> Callable[[], None]:
    """Let another process end its regeneration while this one waits for it."""
    vanish(world, key)
    dead_at = world.clock.now

    def end() -> None:
        world.on_pause = lambda: None
        present, world.clock.now = world.clock.now, dead_at + LEASE
        anew(world, key)
        world.clock.now = present

    return end


@pytest.mark.parametrize(("key", "revision"), [("k1", "m1.2"), ("k2", "m1.3"), (None, "m1.2")])
def test_a_request_that_comes_while_one_runs_joins_it_unless_it_has_a_key_of_its_own(
    world: TurnWorld, key: str | None, revision: str
) -> None:
    world.on_pause = running_meanwhile(world, "k1")
    assert anew(world, key).answer.id == revision
    assert world.pauses
    assert paid(world) == int(revision[-1])
    assert anew(world, "k1").answer.id == "m1.2"


@pytest.mark.parametrize("key", ["k2", "k1"])
def test_a_dead_turn_is_finished_by_its_own_key_and_put_aside_by_another(world: TurnWorld, key: str) -> None:
    vanish(world, "k1")
    world.clock.advance(LEASE.total_seconds())
    assert anew(world, key).answer.id == "m1.2"
    assert anew(world, "k1").answer.id == ("m1.2" if key == "k1" else "m1.3")


def test_who_finishes_a_keys_dead_turn_without_one_makes_that_keys_revision(world: TurnWorld) -> None:
    vanish(world, "k1")
    world.clock.advance(LEASE.total_seconds())
    finished = anew(world, None)
    assert anew(world, "k1") == finished
    assert paid(world) == 2


def test_the_key_itself_is_not_stored(world: TurnWorld) -> None:
    vanish(world, "a-very-private-key")
    (row,) = world.shelf.conversations.values()
    assert row.open_turn is not None
    assert row.open_turn.key
    assert "private" not in repr((world.shelf, world.turns.made_for))
