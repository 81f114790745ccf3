"""Old messages move to S3 in blocks; whatever fails, none is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.blobs.domain import BIG_BYTES, big_content
from fencepost.conversations.domain.archives import BLOCK_MESSAGES, pack
from fencepost.kernel.errors import ErrorCode, FencepostError
from tests.fakes.answers import Fault
from tests.fakes.conversations import owned
from tests.worlds.archive_scenes import ALICE, LONG, RUN, archived, long_talk


def test_old_messages_move_and_are_read_as_before() -> None:
    world = long_talk()
    before = world.said(ALICE)
    archived(world)
    assert world.row(ALICE).archived_through == 2 * BLOCK_MESSAGES
    assert len(world.shelf.messages[owned(ALICE, "c1")]) == LONG - 2 * BLOCK_MESSAGES
    assert world.said(ALICE) == before


def test_nothing_moves_where_another_conversation_has_taken_the_place() -> None:
    world = long_talk()
    world.archive.run(ALICE, replace(world.archive_job(ALICE), incarnation="another"))
    world.archive.run(ALICE, replace(world.archive_job(ALICE), conversation="gone"))
    assert not world.blobs.objects


@pytest.mark.parametrize("fault", ["before", "after"])
def test_a_crash_at_any_call_loses_and_repeats_nothing(fault: Fault) -> None:
    calls = _calls()
    for call in range(calls):
        world = long_talk()
        before = world.said(ALICE)
        world.faults.at(call, fault)
        with pytest.raises(FencepostError):
            world.archive.run(ALICE, world.archive_job(ALICE))
        world.faults.due.clear()
        assert world.said(ALICE) == before
        archived(world)
        assert world.said(ALICE) == before
        assert world.row(ALICE).archived_through == 2 * BLOCK_MESSAGES
        assert len(world.blobs.objects) == 2, "an object is left that no row names"


def _calls() -> int:
    world = long_talk()
    world.archive.run(ALICE, world.archive_job(ALICE))
    return len(world.faults.calls)


def test_rows_stay_until_s3_gave_the_block_back_as_it_went(monkeypatch: pytest.MonkeyPatch) -> None:
    world = long_talk()
    monkeypatch.setattr(world.blobs, "get", lambda _scope, _name: pack(RUN))
    with pytest.raises(FencepostError) as caught:
        world.archive.run(ALICE, world.archive_job(ALICE))
    assert caught.value.code == ErrorCode.CONVERSATIONS_UNAVAILABLE
    assert len(world.shelf.messages[owned(ALICE, "c1")]) == LONG
    assert world.row(ALICE).archived_through == 0


def test_an_answer_that_is_rated_while_it_moves_keeps_its_rating() -> None:
    world = long_talk()
    rows = world.shelf.messages[owned(ALICE, "c1")]
    world.rows.interfere = lambda: rows.__setitem__(1, replace(rows[1], rating="up"))
    archived(world)
    archived(world)
    assert world.said(ALICE)[1].rating == "up"
    assert world.row(ALICE).archived_through == 2 * BLOCK_MESSAGES
    assert len(world.blobs.objects) == 2


def test_big_contents_move_into_their_block() -> None:
    world = long_talk()
    rows, big = world.shelf.messages[owned(ALICE, "c1")], "x" * (BIG_BYTES + 1)
    for place in (1, len(rows) - 1):
        rows[place] = replace(rows[place], content=big)
        name = big_content("c1", rows[place].seq, big.encode())
        world.blobs.put(ALICE, name, big.encode(), "text/plain")
    archived(world)
    assert [one.seq for one in world.said(ALICE) if one.content == big] == [2, LONG]
    assert list(world.blobs.names(ALICE, "conv/c1/big/")) == [name]
