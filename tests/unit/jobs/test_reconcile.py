"""The reconciler: its findings, the jobs that repair them, and what it leaves unchanged."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.conversations.domain.messages import MessageStatus
from fencepost.documents.domain.documents import SETTLES, DocumentState
from fencepost.jobs.domain.index_diff import Finding
from fencepost.kernel.errors import FencepostError
from fencepost.queue.domain import OPERATOR, Purpose
from tests.fakes.answers import Fault
from tests.fakes.conversations import owned
from tests.worlds.reconcile import ReconcileWorld, owner_scope
from tests.worlds.reconcile_scenes import TEXT, findings, first_of, orphan, told

FOUND = Counter[Finding]


@pytest.fixture
def world() -> ReconcileWorld:
    return told(ReconcileWorld())


# What is found, and repaired.


def test_where_all_is_well_nothing_is_found_and_nothing_queued(world: ReconcileWorld) -> None:
    assert (world.found(), world.queued()) == (FOUND(), [])
    world.require_agreement()


REPAIR, REMEMBER, STRAYS = ("d1", Purpose.REPAIR), ("c1", Purpose.REMEMBER), Purpose.REMOVE_STRAYS


def expect(world: ReconcileWorld, found: dict[Finding, int], *jobs: tuple[str, Purpose]) -> None:
    """Fail unless a run finds this and queues these jobs, which repair it for good."""
    assert world.found() == FOUND(found)
    assert world.queued() == [("acme", purpose, name) for name, purpose in jobs]
    assert {job.actor for job in world.queue.jobs} == {OPERATOR}
    world.settle()
    world.require_agreement()
    assert not world.found()


@pytest.mark.parametrize(("parent", "owner"), [("gone", ""), ("gone", "v1"), ("c1", "v2"), ("d1", "v1")])
def test_an_entry_whose_parent_is_gone_or_another_owners_is_removed(
    world: ReconcileWorld, parent: str, owner: str
) -> None:
    orphan(world, parent, owner)
    expect(world, {Finding.VECTOR_WITHOUT_ROW: 1}, (parent, STRAYS))


@pytest.mark.parametrize(("parent", "owner", "job"), [("d1", "", REPAIR), ("c1", "v1", REMEMBER)])
def test_an_entry_that_no_row_knows_is_removed(
    world: ReconcileWorld, parent: str, owner: str, job: tuple[str, Purpose]
) -> None:
    orphan(world, parent, owner)
    expect(world, {Finding.VECTOR_WITHOUT_ROW: 1}, job)


@pytest.mark.parametrize(("parent", "job"), [("d1", REPAIR), ("c1", REMEMBER)])
def test_of_two_entries_of_one_row_the_one_that_it_does_not_know_is_removed(
    world: ReconcileWorld, parent: str, job: tuple[str, Purpose]
) -> None:
    world.index.entries["x00001"] = world.index.entries[first_of(world, parent)]
    expect(world, {Finding.VECTOR_WITHOUT_ROW: 1}, job)


@pytest.mark.parametrize(("parent", "job"), [("d1", REPAIR), ("c1", REMEMBER)])
def test_an_entry_that_the_index_lost_is_written_again_and_nothing_is_embedded(
    world: ReconcileWorld, parent: str, job: tuple[str, Purpose]
) -> None:
    del world.index.entries[first_of(world, parent)]
    world.documents.embedder.embedded.clear()
    expect(world, {Finding.ROW_WITHOUT_VECTOR: 1}, job)
    assert world.documents.embedder.embedded == []


@pytest.mark.parametrize(("parent", "job"), [("d1", REPAIR), ("c1", REMEMBER)])
def test_an_entry_of_another_version_than_its_rows_is_replaced(
    world: ReconcileWorld, parent: str, job: tuple[str, Purpose]
) -> None:
    name = first_of(world, parent)
    world.index.entries[name] = replace(world.index.entries[name], version=77)
    expect(world, {Finding.WRONG_VERSION: 1}, job)
    assert name not in world.index.entries


def test_an_index_that_is_empty_is_filled_again_from_the_rows(world: ReconcileWorld) -> None:
    world.index.entries.clear()
    expect(world, {Finding.ROW_WITHOUT_VECTOR: 5}, REPAIR, REMEMBER)


def test_a_new_model_embeds_everything_anew(world: ReconcileWorld) -> None:
    world.change_model("another/16")
    expect(world, {Finding.WRONG_MODEL: 1 + 3 + 2}, REPAIR, REMEMBER)
    assert {entry.model for entry in world.index.entries.values()} == {"another/16"}
    assert world.documents.document().model == "another/16"


def test_a_document_that_cannot_be_read_any_more_is_embedded_anew_all_the_same(world: ReconcileWorld) -> None:
    world.documents.queue_again(state=DocumentState.FAILED)
    world.change_model("another/16")
    world.found()
    world.settle()
    assert world.documents.document().state is DocumentState.FAILED
    world.require_agreement()


def test_rows_of_an_attempt_that_failed_for_good_are_removed_and_the_version_before_stays(
    world: ReconcileWorld,
) -> None:
    world.write(f"{TEXT}\n\nDelta.", "d1")
    world.faults.at(calls_until_a_new_entry(), "after")
    world.deliver()
    world.queue.jobs.clear()
    world.documents.queue_again(state=DocumentState.FAILED)
    world.found()
    world.settle()
    world.require_agreement()
    assert "".join(world.documents.read()) == TEXT


def calls_until_a_new_entry() -> int:
    """Return how many calls pass until the new chunk's entry is written, which its row does not know yet."""
    world = told(ReconcileWorld())
    world.write(f"{TEXT}\n\nDelta.", "d1")
    before = len(world.faults.calls)
    world.settle()
    return world.faults.calls[before:].index("upsert")


# What is left alone.


def test_what_is_being_built_is_its_builders(world: ReconcileWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry compared before its row is written counts as an orphan, but its removal is stopped by the lease."""
    monkeypatch.setattr("fencepost.documents.domain.documents.SETTLES", timedelta())
    seen = list[FOUND]()

    def look() -> None:
        world.faults.between = None
        seen.append(findings(world))
        while world.queue.jobs:
            with pytest.raises(FencepostError, match=r"^document_busy$"):
                world.perform(world.queue.jobs.pop())
        world.faults.between = look

    world.write(f"{TEXT}\n\nDelta.\n\nEpsilon.", "d1")
    job = world.queue.jobs.pop()
    world.faults.between = look
    world.perform(job)
    world.faults.between = None
    assert len(seen) > 20
    assert sum(seen, FOUND()).keys() == {Finding.VECTOR_WITHOUT_ROW}
    world.require_agreement()


def test_what_changed_a_moment_ago_is_left_for_the_next_time(world: ReconcileWorld) -> None:
    world.index.entries.clear()
    world.say("and beta", "beta too")
    world.documents.queue_again(state=DocumentState.READY)
    assert not findings(world)
    world.clock.advance(SETTLES.total_seconds())
    assert findings(world)


def test_an_entry_of_what_changed_a_moment_ago_is_left_as_well(world: ReconcileWorld) -> None:
    for parent, owner in (("d1", ""), ("c1", "v1")):
        orphan(world, parent, owner)
    world.say("and beta", "beta too")
    world.documents.queue_again(state=DocumentState.READY)
    assert not findings(world)
    world.clock.advance(SETTLES.total_seconds())
    assert findings(world)[Finding.VECTOR_WITHOUT_ROW] == 2


def test_a_repair_waits_where_the_index_may_not_show_the_last_change(world: ReconcileWorld) -> None:
    del world.index.entries[first_of(world, "d1")]
    world.reconcile()
    (job,) = world.queue.jobs
    world.documents.queue_again(state=DocumentState.READY)
    with pytest.raises(FencepostError, match=r"^index_unavailable$"):
        world.perform(job)
    world.clock.advance(SETTLES.total_seconds())
    world.perform(job)
    world.queue.jobs.clear()
    world.require_agreement()


def test_another_organisations_entries_are_never_touched(world: ReconcileWorld) -> None:
    told(world, "other")
    others = {name: entry for name, entry in world.index.entries.items() if entry.org == "other"}
    for name in [name for name, entry in world.index.entries.items() if entry.org == "acme"]:
        del world.index.entries[name]
    orphan(world, "gone", "v1")
    world.found()
    assert {job.org for job in world.queue.jobs} == {"acme"}
    world.settle()
    assert {name: entry for name, entry in world.index.entries.items() if entry.org == "other"} == others
    world.require_agreement()


# Repairs under way.


@pytest.mark.parametrize("fault", ["before", "after"])
@pytest.mark.parametrize("call", range(0, 30, 2))
def test_a_repair_that_ends_anywhere_is_finished_by_the_next(world: ReconcileWorld, call: int, fault: Fault) -> None:
    del world.index.entries[first_of(world, "d1")]
    orphan(world, "d1")
    world.change_model("another/16")
    world.reconcile()
    world.faults.at(call, fault)
    world.settle()
    world.faults.due.clear()
    world.reconcile()
    world.settle()
    world.require_agreement()


def test_a_long_repair_goes_on_in_another_job(world: ReconcileWorld) -> None:
    world.write("\n\n".join(f"Word {n}." for n in range(150)), "d1")
    world.settle()
    world.change_model("another/16")
    world.reconcile()
    usual, world.documents.slice = world.documents.slice, timedelta()
    (job, *_) = [job for job in world.queue.jobs if job.document]
    world.queue.jobs.clear()
    world.perform(job)
    assert world.queued() == [("acme", Purpose.REPAIR, "d1")]
    world.documents.slice = usual
    world.settle()
    assert {entry.model for entry in world.index.entries.values() if not entry.owner} == {"another/16"}


def test_a_conversation_that_is_gone_meanwhile_is_nobodys_to_repair(world: ReconcileWorld) -> None:
    del world.index.entries[first_of(world, "c1")]
    world.reconcile()
    world.erase(owned(owner_scope("acme", "v1"), "c1"))
    world.settle()
    assert not world.index.of("c1")


def test_messages_whose_job_was_lost_are_remembered_after_all(world: ReconcileWorld) -> None:
    world.say("And the winch?", "Grease it.")
    world.queue.jobs.clear()
    expect(world, {Finding.ROW_WITHOUT_VECTOR: 1}, REMEMBER)


def test_a_question_that_waits_and_an_answer_without_words_are_missed_by_nobody(world: ReconcileWorld) -> None:
    world.say("And the winch?", "[doc:start#1]")
    place = owned(owner_scope("acme", "v1"), "c1")
    world.shelf.messages[place][-2] = replace(world.shelf.messages[place][-2], status=MessageStatus.PENDING)
    world.queue.jobs.clear()
    assert (world.found(), world.queued()) == (FOUND(), [])


def test_where_nothing_is_remembered_nothing_is_missed(world: ReconcileWorld) -> None:
    place = owned(owner_scope("acme", "v1"), "c1")
    world.remember.entries.forget_all(owner_scope("acme", "v1"), "c1")
    assert world.shelf.messages[place]
    assert (world.found(), world.queued()) == (FOUND(), [])
