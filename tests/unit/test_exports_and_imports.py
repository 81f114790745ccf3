"""What is exported comes back the same: to its owner alone, whole or not at all, and once however often it is tried."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.domain.archives import MIN_ROWS
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.jobs import JobState
from fencepost.domain.memory import Fact, FactState, Summary, SummaryLine
from fencepost.domain.messages import Message, MessageStatus
from fencepost.domain.objects import BIG_BYTES
from tests.fakes import Fault
from tests.fakes_conversations import owned
from tests.jobs_world import exchange
from tests.storage_world import ALICE_ELSEWHERE, BOB, NOON, StorageWorld, context_of, scope_of

ALICE = scope_of()
FACTS = (
    Fact(id="f1", text="Likes fences.", state=FactState.PINNED, pinned_by="owner", created_at=NOON),
    Fact(id="f2", text="Has a dog.", state=FactState.SUPERSEDED, pinned_by="job", created_at=NOON, superseded_by="f1"),
)
SUMMARY = Summary(
    id="s1",
    lines=(SummaryLine("Fences were discussed.", ("msg:c1-q1",)),),
    first_seq=1,
    last_seq=2,
    content_hash="0" * 64,
    prompt_version="1",
    model="m",
    created_at=NOON,
)


def furnished() -> StorageWorld:
    """Return a world in which Alice has two conversations, a summary and facts, and Bob one conversation."""
    world = StorageWorld()
    world.site(rows=MIN_ROWS)
    world.talk(ALICE, "c1", exchanges=3)
    world.talk(ALICE, "c2", exchanges=60)
    world.talk(scope_of(BOB), "c3")
    world.memory.write_facts(ALICE, FACTS)
    world.memory.write_summary(ALICE, "c1", "c1-1", SUMMARY)
    return world


def fails(work: Callable[..., object], *arguments: object) -> ErrorCode:
    with pytest.raises(FencepostError) as caught:
        work(*arguments)
    return caught.value.code


def emptied(world: StorageWorld) -> StorageWorld:
    """Return a world with the same secrets in which nothing was ever said."""
    fresh = StorageWorld(keys=world.keys)
    fresh.site(rows=MIN_ROWS)
    return fresh


def snapshot(world: StorageWorld) -> tuple[object, ...]:
    """Return all that can be told from outside."""
    shelf = world.shelf
    return (
        {place: replace(row, incarnation="") for place, row in shelf.conversations.items()},
        dict(shelf.messages),
        dict(shelf.pointers),
        dict(shelf.answers),
        world.memory.facts(ALICE, *FactState),
        world.memory.summary(ALICE, "c1"),
    )


def test_an_export_is_the_same_each_time() -> None:
    world = furnished()
    first = world.export(ALICE)
    world.clock.advance(86_400)
    assert world.export(ALICE) == first


def test_export_import_export_is_equal() -> None:
    world = furnished()
    bundle = world.export(ALICE)
    fresh = emptied(world)
    counts = fresh.bring(ALICE, bundle)
    assert counts == {"conversations": 2, "facts": 2}
    assert fresh.export(ALICE) == bundle
    assert fresh.said(ALICE, "c2") == world.said(ALICE, "c2")
    assert fresh.shelf.pointers == {
        place: one for place, one in world.shelf.pointers.items() if place[1] == ALICE.owner
    }
    assert fresh.shelf.answers == {place: one for place, one in world.shelf.answers.items() if place[1] == ALICE.owner}


def test_archived_messages_are_exported_like_all_others() -> None:
    world = furnished()
    world.talk(ALICE, "c2", exchanges=MIN_ROWS)
    before = world.export(ALICE, "c2")
    world.archive.run(ALICE, world.archive_job(ALICE, "c2"))
    assert world.row(ALICE, "c2").archived_through
    assert world.export(ALICE, "c2") == before
    fresh = emptied(world)
    fresh.bring(ALICE, before)
    assert fresh.export(ALICE, "c2") == before


def test_what_retention_left_goes_on_where_it_was() -> None:
    world = StorageWorld()
    world.site(days=2)
    world.talk(ALICE, exchanges=5, every=timedelta(days=1))
    world.clock.now = NOON + timedelta(days=4)
    world.archive.run(ALICE, world.archive_job(ALICE))
    bundle = world.export(ALICE)
    fresh = emptied(world)
    fresh.bring(ALICE, bundle)
    assert [message.seq for message in fresh.said(ALICE)] == list(range(5, 11))
    assert (fresh.row(ALICE).next_seq, fresh.row(ALICE).kept_from) == (11, 5)
    assert fresh.export(ALICE) == bundle


def test_answers_that_were_made_anew_and_questions_that_wait_come_back() -> None:
    world = StorageWorld()
    world.talk(ALICE)
    asked, told = world.shelf.messages[owned(ALICE, "c1")]
    anew = replace(told, id=f"{asked.id}.2", seq=3, rating="up")
    waiting = replace(asked, id="late", seq=4, status=MessageStatus.PENDING)
    rows = [asked, replace(told, status=MessageStatus.SUPERSEDED), anew, waiting]
    world.shelf.messages[owned(ALICE, "c1")] = rows
    world.shelf.answers[owned(ALICE, asked.id)][2] = (3, context_of(anew))
    bundle = world.export(ALICE)
    fresh = emptied(world)
    fresh.bring(ALICE, bundle)
    assert fresh.said(ALICE) == rows
    assert fresh.shelf.answers[owned(ALICE, asked.id)] == {1: (2, context_of(told)), 2: (3, context_of(anew))}
    assert fresh.shelf.answers[owned(ALICE, "late")] == {}


def test_what_went_into_an_answer_that_came_after_its_bundle_was_written_is_left_out() -> None:
    world = furnished()
    before = world.export(ALICE, "c1")
    asked = world.shelf.messages[owned(ALICE, "c1")][0]
    # The answer is made anew between the export's look at the messages and its look at their contexts.
    later = replace(world.shelf.messages[owned(ALICE, "c1")][1], id=f"{asked.id}.2", seq=7)
    world.shelf.answers[owned(ALICE, asked.id)][2] = (7, context_of(later))
    assert world.export(ALICE, "c1") == before


def test_an_export_of_one_conversation_holds_nothing_else() -> None:
    world = furnished()
    bundle = world.export(ALICE, "c1")
    fresh = emptied(world)
    assert fresh.bring(ALICE, bundle) == {"conversations": 1, "facts": 0}
    assert [*fresh.shelf.conversations] == [owned(ALICE, "c1")]


def test_a_foreign_or_absent_conversation_cannot_be_exported() -> None:
    world = furnished()
    for name in ("c3", "absent"):
        assert fails(world.exports.ask, ALICE, "docs", name) == ErrorCode.NOT_FOUND
    assert not world.jobs.queued


def test_an_export_shows_its_link_once_it_is_done_and_to_its_owner_alone() -> None:
    world = furnished()
    record = world.exports.ask(ALICE, "docs")
    assert world.exports.state(ALICE, record.id).link is None
    world.run(ALICE, world.exports.run)
    assert world.exports.state(ALICE, record.id).link is not None
    for scope in (scope_of(BOB), scope_of(ALICE_ELSEWHERE)):
        assert fails(world.exports.state, scope, record.id) == ErrorCode.NOT_FOUND
    assert fails(world.imports.state, ALICE, record.id) == ErrorCode.NOT_FOUND


def test_an_erasure_during_an_export_leaves_no_bundle() -> None:
    world = furnished()
    world.exports.ask(ALICE, "docs")
    world.blobs.on_put = lambda: world.erase(ALICE, "c1")
    assert fails(world.run, ALICE, world.exports.run) == ErrorCode.CONVERSATIONS_UNAVAILABLE
    assert not world.blobs.objects
    world.run(ALICE, world.exports.run)
    assert b"c1" not in next(iter(world.blobs.objects.values()))


def test_an_erasure_of_everything_during_an_export_ends_it() -> None:
    world = furnished()
    world.exports.ask(ALICE, "docs")
    world.blobs.on_put = lambda: world.jobs.forget(ALICE)
    assert fails(world.run, ALICE, world.exports.run) == ErrorCode.NOT_FOUND
    assert not world.blobs.objects


def test_a_conversation_that_changes_while_all_are_listed_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    world = furnished()
    monkeypatch.setattr("fencepost.services.exports._PAGE", 1)
    newest, turned = world.conversations.newest, list[bool]()

    def busy(*arguments: object, after: str | None, limit: int) -> object:
        page = newest(*arguments, after=after, limit=limit)  # type: ignore[arg-type]  # what it was called with
        if after is None and not turned:
            # The one that would come last gets a new message, and is the first from now on.
            turned.append(True)
            for place, row in list(world.shelf.conversations.items()):
                if row.id not in [one.id for one in page.items]:
                    world.shelf.conversations[place] = replace(row, updated_at=NOON + timedelta(minutes=1))
        return page

    monkeypatch.setattr(world.conversations, "newest", busy)
    record = world.exports.ask(ALICE, "docs")
    world.run(ALICE, world.exports.run)
    assert world.exports.state(ALICE, record.id).record.progress["conversations"] == 2


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


def test_a_conversation_goes_on_after_its_import() -> None:
    world = furnished()
    fresh = emptied(world)
    fresh.bring(ALICE, world.export(ALICE, "c1"))
    row = fresh.row(ALICE)
    assert (row.next_seq, row.archived_through, row.open_turn) == (7, 0, None)
    assert _seqs(fresh.said(ALICE)) == list(range(1, 7))
