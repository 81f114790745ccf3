"""A job that ends anywhere: after the next one, rows and index hold exactly what the messages say."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.kernel.errors import FencepostError
from fencepost.queue.service import WORK_SECONDS
from tests.fakes.answers import Fault
from tests.worlds.remember import RememberWorld
from tests.worlds.thoroughness import examples

FAULTS: tuple[Fault, ...] = ("before", "after")
TURNS = 9

type Change = Callable[[RememberWorld], object]

CHANGES: dict[str, Change] = {
    "a turn": lambda world: world.turn("Which keep?", "Boskoop."),
    "an answer made anew": lambda world: world.answer(2 * TURNS - 1, "Quinces."),
    "an old answer made anew": lambda world: world.answer(1, "Quinces."),
    "retention": lambda world: world.hide(6),
}


def remembered() -> RememberWorld:
    world = RememberWorld()
    world.talk(TURNS)
    world.work()
    world.faults.calls.clear()
    return world


def calls_of(change: Change) -> int:
    world = remembered()
    change(world)
    world.work()
    return len(world.faults.calls)


CALLS = [(name, call) for name, change in CHANGES.items() for call in range(calls_of(change))]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("name", "call"), CALLS)
def test_a_fault_at_any_call_is_made_good_by_the_same_job(name: str, call: int, fault: Fault) -> None:
    world = remembered()
    CHANGES[name](world)
    world.fail_at(call, fault)
    assert world.work() <= 1
    world.require_agreement()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", range(calls_of(CHANGES["a turn"])))
def test_a_fault_at_any_call_of_a_lagging_index_leaves_at_most_what_waits(call: int, fault: Fault) -> None:
    world = remembered()
    world.index.lag = 1
    CHANGES["a turn"](world)
    world.fail_at(call, fault)
    world.work()
    rows = world.parts.rows_of(world.scope, "c1")
    assert set(world.index.entries) == {one for row in rows for one in (row.stored_id, row.stale_id) if one}
    world.faults.due.clear()
    world.clock.advance(WORK_SECONDS)
    world.run()
    world.require_agreement()


@pytest.mark.parametrize("call", range(calls_of(CHANGES["a turn"])))
def test_what_is_found_is_never_less_than_before(call: int) -> None:
    world = remembered()
    before = {row.chunk for row in world.parts.rows_of(world.scope, "c1")}
    CHANGES["a turn"](world)

    def look() -> None:
        rows = world.parts.rows_of(world.scope, "c1")
        found = {row.chunk for row in rows if {row.stored_id, row.stale_id} & set(world.index.entries)}
        assert before <= found

    world.faults.between = look
    world.fail_at(call, "before")
    world.work()


@pytest.mark.parametrize("name", ["a first look", *CHANGES])
def test_one_that_comes_back_while_its_old_job_runs_loses_nothing(name: str) -> None:
    assert sum(1 for _ in takewhile(lambda call: comes_back(name, call), count())) >= 10


def comes_back(name: str, look: int) -> bool:
    """Let a conversation be erased, imported and remembered before or after a call of its old job; False where that
    makes no so many."""
    world, looks = RememberWorld() if name == "a first look" else remembered(), count()
    CHANGES.get(name, CHANGES["a turn"])(world)
    old = world.due.pop()

    def between() -> None:
        if next(looks) == look:
            world.come_back()
            world.run()

    world.faults.between = between
    world.service.run(world.scope, old)
    reached = next(looks) > look
    if reached:
        world.require_agreement()
    return reached


@st.composite
def changes(draw: st.DrawFn) -> list[tuple[str, int, list[tuple[int, Fault]]]]:
    """Return what happens: which change, to which message, and which calls of the work after it fail."""
    faults = st.lists(st.tuples(st.integers(0, 20), st.sampled_from(FAULTS)), max_size=3)
    kinds = st.sampled_from(["turn", "ask", "answer", "hide", "lose"])
    return draw(st.lists(st.tuples(kinds, st.integers(0, 60), faults), min_size=1, max_size=12))


@settings(max_examples=examples(200), deadline=None)
@given(changes=changes(), lag=st.integers(0, 3), slice_=st.sampled_from([4, 256]))
def test_any_changes_under_any_faults_end_in_agreement(
    changes: list[tuple[str, int, list[tuple[int, Fault]]]], lag: int, slice_: int
) -> None:
    world = RememberWorld(slice=slice_)
    for kind, place, faults in changes:
        happen(world, kind, place)
        world.index.lag = lag
        for gap, fault in faults:
            world.faults.due += [*([None] * gap), fault]
        attempt(world)
    world.index.lag = 0
    world.index._hidden.clear()
    world.clock.advance(WORK_SECONDS)
    world.work()
    world.run(revises=True)
    world.work()
    # What the first pass replaced while nothing was to be found of it, the second removes.
    world.run(revises=True)
    world.work()
    world.require_agreement()


@settings(max_examples=examples(150), deadline=None)
@given(
    changes=st.lists(
        st.tuples(
            st.sampled_from(["turn", "ask", "answer", "hide"]),
            st.integers(0, 60),
            st.integers(0, 24),
            st.sampled_from(FAULTS),
        ),
        min_size=1,
        max_size=12,
    ),
    slice_=st.sampled_from([4, 256]),
)
def test_jobs_that_come_again_need_no_repair(changes: list[tuple[str, int, int, Fault]], slice_: int) -> None:
    world = RememberWorld(slice=slice_)
    for kind, place, call, fault in changes:
        happen(world, kind, place)
        world.fail_at(call, fault)
        world.work()
        world.faults.due.clear()
        world.clock.advance(WORK_SECONDS)
        world.require_agreement()


def happen(world: RememberWorld, kind: str, place: int) -> None:
    """Change the conversation."""
    questions = [one.seq for one in world.messages if one.reply_to is None and one.seq >= world.row.kept_from]
    if kind == "ask":
        world.ask()
    elif kind == "answer" and questions:
        world.answer(questions[place % len(questions)], f"anew {place}")
    elif kind == "hide":
        world.hide(min(world.row.next_seq, world.row.kept_from + place % 4))
    elif kind == "lose" and world.index.entries:
        del world.index.entries[sorted(world.index.entries)[place % len(world.index.entries)]]
    else:
        world.talk(1 + place % 3)


def attempt(world: RememberWorld) -> None:
    """Run what is due once, whatever comes of it."""
    while world.due:
        try:
            world.service.run(world.scope, world.due.popleft())
        except FencepostError:
            world.clock.advance(WORK_SECONDS)
    world.faults.due.clear()
