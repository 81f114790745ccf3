"""Runs of the reconciler: all organisations in turn, each run from where the last one ended and within its limits."""

from __future__ import annotations

from collections import Counter

import pytest

from fencepost.identity.domain.scope import Scope
from fencepost.jobs.domain.index_diff import DiffProgress
from fencepost.jobs.handlers.schedule import RECONCILE, Schedule, ScheduleFailed
from fencepost.jobs.service import index_diff as comparing
from fencepost.jobs.service import reconciler as reconciling
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.observability.domain.events import BatchEvent, ReconcileEvent
from tests.fakes.answers import Fault
from tests.fakes.reconcile import FakeRegistry
from tests.worlds.jobs import FakeEvents
from tests.worlds.reconcile import ReconcileWorld
from tests.worlds.reconcile_scenes import TEXT, orphan, spoil, told


@pytest.fixture
def world() -> ReconcileWorld:
    return told(ReconcileWorld())


def calls_of_a_run() -> int:
    world = told(ReconcileWorld())
    before = len(world.faults.calls)
    spoil(world)
    world.reconcile()
    return len(world.faults.calls) - before


@pytest.mark.parametrize("fault", ["before", "after"])
@pytest.mark.parametrize("call", range(calls_of_a_run()))
def test_a_run_that_ends_anywhere_is_gone_on_with_and_finds_everything(
    world: ReconcileWorld, call: int, fault: Fault
) -> None:
    spoil(world)
    world.faults.at(call, fault)
    with pytest.raises(FencepostError):
        world.reconcile()
    world.faults.due.clear()
    world.reconcile()
    world.settle()
    world.require_agreement()


def test_a_run_goes_on_where_the_last_one_was_and_not_from_the_beginning(
    world: ReconcileWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciling, "READS", 1)
    world.registry.orgs = ("acme",)
    steps = [world.reconcile()[-1].then for _ in range(3)]
    assert [progress and progress.step for progress in steps] == ["documents", "conversations", None]
    assert world.progress.kept["acme"] == DiffProgress()


def test_organisations_take_turns_and_one_that_fails_holds_up_no_other(
    world: ReconcileWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.registry = FakeRegistry(world.faults, ("acme", "broken", "other"))
    turns = list[str]()

    class Picky(comparing.IndexDiff):
        def __init__(self, sources: comparing.DiffSources, scope: Scope) -> None:
            super().__init__(sources, scope)
            turns.append(scope.org)
            if scope.org == "broken":
                raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)

    monkeypatch.setattr(reconciling, "IndexDiff", Picky)
    with pytest.raises(FencepostError):
        world.reconcile()
    with pytest.raises(FencepostError):
        world.reconcile()
    assert turns == ["acme", "broken", "other", "acme", "broken"]


def test_a_run_reads_no_more_than_it_may(world: ReconcileWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconciling, "READS", 20)
    monkeypatch.setattr(comparing, "ENTRIES", 5)
    for number in range(40):
        world.say("where", "here", f"c{number}")
        world.write(TEXT, f"d{number}")
    world.settle()
    reads = {"listed", "hydrate", "page", "chunks", "visible", "conversations", "parts"}
    runs = list[int]()
    while True:
        before = Counter(world.faults.calls)
        looked = world.reconcile()
        runs.append(sum((Counter(world.faults.calls) - before)[name] for name in reads))
        assert runs[-1] == sum(each.reads for each in looked)
        if looked[-1].then is None and world.registry.last == "acme":
            break
    most_of_a_page = 2 + 2 * comparing.CONVERSATIONS
    assert len(runs) > 10
    assert max(runs) < 20 + most_of_a_page


def test_a_run_asks_for_no_more_repairs_than_it_may_and_for_each_once(
    world: ReconcileWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciling, "REPAIRS", 3)
    # What is wrong with a document is met on several pages.
    monkeypatch.setattr(comparing, "ROWS", 1)
    for number in range(12):
        world.write(TEXT, f"d{number}")
    world.settle()
    world.index.entries.clear()
    for _ in range(20):
        world.reconcile()
        assert len(set(world.queued())) == len(world.queue.jobs) <= 3
        world.settle()
    world.require_agreement()


def test_a_run_ends_before_its_function_does(world: ReconcileWorld) -> None:
    world.faults.between = lambda: world.clock.advance(reconciling.SLICE.total_seconds() / 4)
    assert len(world.reconcile()) <= 1


# The handler.


def test_a_run_is_one_event_with_counts_alone(world: ReconcileWorld) -> None:
    spoil(world)
    log = FakeEvents()
    Schedule(lambda: pytest.fail("the reconciler was asked for"), world.reconcile, log)({"task": RECONCILE}, None)
    run, batch = log.seen
    assert isinstance(run, ReconcileEvent)
    assert run == ReconcileEvent(
        organisations=2,
        pages=run.pages,
        reads=run.reads,
        vectors_without_rows=1,
        rows_without_vectors=2,
        repairs=3,
    )
    assert isinstance(batch, BatchEvent)
    assert (batch.source, batch.records, batch.failed) == ("reconcile", 3, 0)


def test_a_run_that_fails_reports_what_it_found_until_then(world: ReconcileWorld) -> None:
    orphan(world, "gone")
    world.faults.at(10, "before")
    log = FakeEvents()
    with pytest.raises(ScheduleFailed) as raised:
        Schedule(list, world.reconciler.run, log)({"task": RECONCILE}, None)
    run, batch = log.seen
    assert isinstance(run, ReconcileEvent)
    assert run.vectors_without_rows == 1
    assert isinstance(batch, BatchEvent)
    assert (batch.source, batch.failed) == ("reconcile", 1)
    assert (str(raised.value), raised.value.__context__) == ("", None)
