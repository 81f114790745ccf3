"""What is exported comes back the same, and to its owner alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.conversations.domain.archives import MIN_ROWS
from fencepost.conversations.domain.messages import MessageStatus
from fencepost.kernel.errors import ErrorCode
from tests.fakes.conversations import owned
from tests.worlds.export_scenes import ALICE, emptied, fails, furnished
from tests.worlds.storage import ALICE_ELSEWHERE, BOB, NOON, StorageWorld, context_of, scope_of


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
    monkeypatch.setattr("fencepost.lifecycle.service.exports._PAGE", 1)
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
