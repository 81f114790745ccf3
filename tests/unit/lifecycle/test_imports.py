"""What is imported is there whole or not at all, and once however often it is tried."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import pytest

from fencepost.blobs.domain import BIG_BYTES
from fencepost.conversations.domain.messages import Message
from fencepost.identity.domain.sites import Organisation, Retention
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.observability.service import Trace
from fencepost.queue.domain import JobState
from tests.fakes.answers import Fault
from tests.fakes.conversations import owned
from tests.worlds.export_scenes import ALICE, FACTS, emptied, fails, furnished, snapshot
from tests.worlds.jobs import exchange
from tests.worlds.storage import ALICE as VISITOR
from tests.worlds.storage import ALICE_ELSEWHERE, BOB, NOON, StorageWorld, scope_of
from tests.worlds.turn import TurnWorld


@pytest.mark.parametrize("caller", [BOB, ALICE_ELSEWHERE], ids=["another owner", "another organisation"])
def test_a_foreign_bundle_is_refused_at_once_and_by_the_job(caller: object) -> None:
    world = furnished()
    bundle = world.export(ALICE)
    scope = scope_of(caller)  # type: ignore[arg-type]  # both are visitors
    before = snapshot(world)
    assert fails(world.imports.take, scope, "docs", bundle) == ErrorCode.BUNDLE_FOREIGN
    upload = world.imports.offer(scope)
    world.blobs.put(scope, f"imports/{upload.id}.zip", bundle, "application/zip")
    world.imports.start(scope, "docs", upload.id)
    assert fails(world.run, scope, world.imports.run) == ErrorCode.BUNDLE_FOREIGN
    assert snapshot(world) == before


def test_what_is_there_and_the_same_is_left_alone() -> None:
    world = furnished()
    bundle, before = world.export(ALICE), snapshot(world)
    incarnation = world.row(ALICE).incarnation
    assert world.bring(ALICE, bundle)["conversations"] == 0
    assert snapshot(world) == before
    assert world.row(ALICE).incarnation == incarnation


@pytest.mark.parametrize("change", ["message", "fact", "pointer"])
def test_what_is_there_and_is_not_the_same_is_an_error_that_changes_nothing(change: str) -> None:
    world = furnished()
    bundle = world.export(ALICE)
    world.erase(ALICE, "c2")
    if change == "message":
        world.shelf.messages[owned(ALICE, "c1")] += exchange(7, "One more?", "Yes.", NOON)
    elif change == "fact":
        world.memory.write_facts(ALICE, [replace(FACTS[0], text="Dislikes fences.")])
    else:
        world.talk(ALICE, "other")
        taken = world.shelf.pointers[owned(ALICE, "other-q1")]
        world.shelf.pointers[owned(ALICE, "c2-q1")] = replace(taken, message_id="c2-q1")
    before = snapshot(world)
    assert fails(world.imports.take, ALICE, "docs", bundle) == ErrorCode.IMPORT_CONFLICT
    assert snapshot(world) == before


def test_an_erased_conversation_comes_back_as_another_one() -> None:
    world = furnished()
    bundle, incarnation = world.export(ALICE), world.row(ALICE).incarnation
    world.erase(ALICE, "c1")
    world.bring(ALICE, bundle)
    assert world.row(ALICE).incarnation != incarnation
    assert world.export(ALICE) == bundle


def _import_calls(world: StorageWorld, bundle: bytes) -> int:
    fresh = emptied(world)
    fresh.imports.take(ALICE, "docs", bundle)
    start = len(fresh.faults.calls)
    fresh.run(ALICE, fresh.imports.run)
    return len(fresh.faults.calls) - start


@pytest.mark.parametrize("fault", ["before", "after"])
def test_a_crash_at_any_call_of_an_import_shows_no_half_and_is_taken_up(fault: Fault) -> None:
    world = furnished()
    big = world.shelf.messages[owned(ALICE, "c2")]
    big[1] = replace(big[1], content="x" * (BIG_BYTES + 1))
    bundle, wanted = world.export(ALICE), world.said(ALICE, "c2")
    for call in range(_import_calls(world, bundle)):
        fresh = emptied(world)
        fresh.imports.take(ALICE, "docs", bundle)
        fresh.faults.at(call, fault)
        assert fails(fresh.run, ALICE, fresh.imports.run) == ErrorCode.CONVERSATIONS_UNAVAILABLE
        fresh.faults.due.clear()
        assert fresh.said(ALICE, "c2") in ([], wanted)
        record = fresh.jobs.queued[-1].record or ""
        if fresh.imports.state(ALICE, record).state is not JobState.DONE:
            fresh.run(ALICE, fresh.imports.run)
        assert fresh.export(ALICE) == bundle
        assert not fresh.written.marks


@pytest.mark.parametrize("store", ["memory", "jobs"])
@pytest.mark.parametrize("fault", ["before", "after"])
def test_a_crash_of_what_stands_beside_is_taken_up_as_well(store: str, fault: Fault) -> None:
    world = furnished()
    bundle = world.export(ALICE)
    for call in range(4):
        fresh = emptied(world)
        fresh.imports.take(ALICE, "docs", bundle)
        faults = fresh.memory.faults if store == "memory" else fresh.jobs.faults
        faults.due = deque([*([None] * call), fault])
        try:
            fresh.run(ALICE, fresh.imports.run)
        except FencepostError:
            faults.due.clear()
            fresh.run(ALICE, fresh.imports.run)
        faults.due.clear()
        assert fresh.export(ALICE) == bundle


@pytest.mark.parametrize("fault", ["before", "after"])
def test_a_bundle_whose_import_is_not_queued_does_not_stay(fault: Fault) -> None:
    world = furnished()
    bundle = world.export(ALICE)
    fresh = emptied(world)
    fresh.jobs.faults.due.append(fault)
    assert fails(fresh.imports.take, ALICE, "docs", bundle) is ErrorCode.CONVERSATIONS_UNAVAILABLE
    assert not fresh.blobs.objects


def test_an_erasure_during_an_import_ends_it() -> None:
    world = furnished()
    bundle = world.export(ALICE)
    fresh = emptied(world)
    fresh.imports.take(ALICE, "docs", bundle)
    fresh.written.interfere = fresh.written.marks.clear
    assert fails(fresh.run, ALICE, fresh.imports.run) == ErrorCode.CONVERSATIONS_UNAVAILABLE
    assert not fresh.shelf.conversations


def test_a_large_bundle_is_uploaded_first_and_its_import_starts_once() -> None:
    world = furnished()
    bundle = world.export(ALICE)
    fresh = emptied(world)
    upload = fresh.imports.offer(ALICE)
    assert fails(fresh.imports.start, ALICE, "docs", upload.id) == ErrorCode.IMPORT_INVALID
    fresh.blobs.put(ALICE, upload.form.fields["key"], bundle, "application/zip")
    assert fresh.imports.start(ALICE, "docs", upload.id).id == upload.id
    assert fresh.imports.start(ALICE, "docs", upload.id).id == upload.id
    assert len(fresh.jobs.queued) == 1
    fresh.run(ALICE, fresh.imports.run)
    assert fresh.imports.state(ALICE, upload.id).state == JobState.DONE
    assert fresh.export(ALICE) == bundle
    assert upload.form.fields["key"] not in [name for *_, name in fresh.blobs.objects]


def test_somebody_elses_upload_cannot_be_started() -> None:
    world = furnished()
    bundle = world.export(ALICE)
    upload = world.imports.offer(ALICE)
    world.blobs.put(ALICE, upload.form.fields["key"], bundle, "application/zip")
    assert fails(world.imports.start, scope_of(BOB), "docs", upload.id) == ErrorCode.IMPORT_INVALID


def test_two_imports_of_one_bundle_end_the_same() -> None:
    world = furnished()
    bundle = world.export(ALICE)
    fresh = emptied(world)
    fresh.imports.take(ALICE, "docs", bundle)
    fresh.imports.take(ALICE, "docs", bundle)
    first, second = fresh.jobs.queued

    def other() -> None:
        fresh.imports.run(ALICE, second)

    fresh.written.interfere = other
    assert fails(fresh.imports.run, ALICE, first) == ErrorCode.CONVERSATIONS_UNAVAILABLE
    fresh.imports.run(ALICE, first)
    assert fresh.export(ALICE) == bundle


def _seqs(messages: list[Message]) -> list[int]:
    return [message.seq for message in messages]


@pytest.mark.parametrize(
    ("known", "expected", "days"), [("docs", "docs", 2), ("shop", "shop", 5), (None, "shop", 5)], ids=str
)
def test_a_conversation_comes_back_on_a_site_that_its_organisation_has(
    known: str | None, expected: str, days: int
) -> None:
    world = furnished()
    world.move(ALICE, "c1", known or "unknown")
    fresh = emptied(world)
    fresh.directory.add_site(retention=Retention(days=2))
    fresh.directory.add_site(site="shop", retention=Retention(days=5))
    fresh.bring(ALICE, world.export(ALICE, "c1"), site="shop")
    assert (fresh.row(ALICE).site, fresh.row(ALICE).keep_days) == (expected, days)
    fresh.bring(ALICE, world.export(ALICE, "c1"), site="docs")
    assert fresh.row(ALICE).site == expected


@pytest.mark.parametrize(("site", "expected"), [("gone", "shop"), ("closed", "closed"), ("", "")])
def test_what_a_member_imports_comes_back_on_the_default_site_where_its_own_is_unknown(
    site: str, expected: str
) -> None:
    world = furnished()
    world.move(ALICE, "c1", site)
    fresh = emptied(world)
    fresh.directory.add_organisation(Organisation(id="acme", default_site="shop"))
    for site_id, active in (("shop", True), ("closed", False)):
        fresh.directory.add_site(site=site_id, active=active)
    fresh.bring(ALICE, world.export(ALICE, "c1"), site="")
    assert fresh.row(ALICE).site == expected


def test_a_conversation_of_an_unknown_site_is_gone_on_with_after_its_import() -> None:
    world = furnished()
    world.move(ALICE, "c1", "unknown")
    fresh = emptied(world)
    fresh.bring(ALICE, world.export(ALICE, "c1"))
    turns = TurnWorld(shelf=fresh.shelf, directory=fresh.directory)
    asked = fresh.said(ALICE)[-2].id
    assert turns.service().regenerate(VISITOR, asked, Trace()).answer.seq == 7
    assert turns.say("And then?", "m9", "c1", caller=VISITOR).answer.seq == 9


def test_a_conversation_goes_on_after_its_import() -> None:
    world = furnished()
    fresh = emptied(world)
    fresh.bring(ALICE, world.export(ALICE, "c1"))
    row = fresh.row(ALICE)
    assert (row.next_seq, row.archived_through, row.open_turn) == (7, 0, None)
    assert _seqs(fresh.said(ALICE)) == list(range(1, 7))
