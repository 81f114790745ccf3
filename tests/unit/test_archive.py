"""Old messages move to S3 in blocks, or go where a site does not keep them; whatever fails, none is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.domain.archives import (
    BLOCK_MESSAGES,
    MIN_ROWS,
    DamagedBlock,
    describe,
    expiry,
    is_due,
    movable,
    pack,
    reaches_block,
    unpack,
)
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.memory import Summary
from fencepost.domain.messages import Message, MessageStatus, OpenTurn
from fencepost.domain.objects import BIG_BYTES, big_content
from fencepost.domain.outbox import job_after_expiry
from fencepost.domain.sites import Retention
from tests.fakes import Fault
from tests.fakes_conversations import owned
from tests.jobs_world import exchange
from tests.storage_world import NOON, StorageWorld, scope_of

ALICE = scope_of()
RUN = [message for number in range(3) for message in exchange(2 * number + 1, "Why? 柵 🌿", "So.\n" * number, NOON)]
LONG = MIN_ROWS + 130
"""Messages of a conversation of which two blocks are to move."""

texts = st.text(st.characters(codec="utf-8"), max_size=80)


def archived(world: StorageWorld) -> None:
    """Run the archive's job."""
    world.archive.run(ALICE, world.archive_job(ALICE))


@given(st.lists(texts, min_size=1, max_size=20), st.integers(1, 10**9))
@settings(deadline=None)
def test_a_block_comes_back_as_it_went_and_always_in_the_same_bytes(contents: list[str], first: int) -> None:
    messages = tuple(replace(RUN[0], seq=first + place, content=text) for place, text in enumerate(contents))
    content = pack(messages)
    assert unpack(describe("name", content, messages), content) == messages
    assert pack(messages) == content


@given(st.data())
def test_a_damaged_block_is_never_read(data: st.DataObject) -> None:
    content = pack(RUN)
    block = describe("name", content, RUN)
    damaged = bytearray(content)
    damaged[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(DamagedBlock):
        unpack(block, bytes(damaged))


@pytest.mark.parametrize("content", [b"", b"plain", pack(RUN[:-1]), pack(RUN[1:]), pack(RUN)[:-4]])
def test_what_has_another_hash_or_other_numbers_is_no_block(content: bytes) -> None:
    with pytest.raises(DamagedBlock):
        unpack(describe("name", pack(RUN), RUN), content)
    with pytest.raises(DamagedBlock):
        unpack(describe("name", content, RUN), content)


def test_only_whole_blocks_of_settled_messages_may_move() -> None:
    rows = [replace(RUN[0], seq=seq) for seq in range(1, BLOCK_MESSAGES + 1)]
    waiting = replace(rows[7], status=MessageStatus.PENDING)
    assert movable(rows) == tuple(rows)
    assert movable([*rows, *rows]) == tuple(rows)
    assert movable(rows[:-1]) == ()
    assert movable([*rows[:7], waiting, *rows[8:]]) == ()


def test_a_job_is_due_once_a_block_is_more_than_what_stays() -> None:
    world = StorageWorld()
    world.talk(ALICE)
    row = world.row(ALICE)
    most = Retention(rows=MIN_ROWS + 100)
    assert not is_due(replace(row, next_seq=MIN_ROWS + 150), most)
    assert is_due(replace(row, next_seq=MIN_ROWS + 151), most)
    assert not is_due(replace(row, next_seq=MIN_ROWS + 151, archived_through=50), most)
    assert not is_due(replace(row, next_seq=MIN_ROWS), Retention(rows=1))


@given(st.integers(1, 10_000), st.integers(0, 4))
def test_a_job_looks_as_often_as_a_block_fills(before: int, more: int) -> None:
    ends = [seq for seq in range(before + 1, before + more + 1) if seq % BLOCK_MESSAGES == 0]
    assert reaches_block(before, before + more) == bool(ends)


def test_old_messages_move_and_are_read_as_before() -> None:
    world = StorageWorld()
    world.site(rows=MIN_ROWS)
    world.talk(ALICE, exchanges=LONG // 2)
    before = world.said(ALICE)
    archived(world)
    assert world.row(ALICE).archived_through == 2 * BLOCK_MESSAGES
    assert len(world.shelf.messages[owned(ALICE, "c1")]) == LONG - 2 * BLOCK_MESSAGES
    assert world.said(ALICE) == before


def test_nothing_moves_where_another_conversation_has_taken_the_place() -> None:
    world = StorageWorld()
    world.site(rows=MIN_ROWS)
    world.talk(ALICE, exchanges=LONG // 2)
    world.archive.run(ALICE, replace(world.archive_job(ALICE), incarnation="another"))
    world.archive.run(ALICE, replace(world.archive_job(ALICE), conversation="gone"))
    assert not world.blobs.objects


@pytest.mark.parametrize("fault", ["before", "after"])
def test_a_crash_at_any_call_loses_and_repeats_nothing(fault: Fault) -> None:
    calls = _calls(LONG)
    for call in range(calls):
        world = StorageWorld()
        world.site(rows=MIN_ROWS)
        world.talk(ALICE, exchanges=LONG // 2)
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


def _calls(messages: int) -> int:
    world = StorageWorld()
    world.site(rows=MIN_ROWS)
    world.talk(ALICE, exchanges=messages // 2)
    world.archive.run(ALICE, world.archive_job(ALICE))
    return len(world.faults.calls)


def test_rows_stay_until_s3_gave_the_block_back_as_it_went(monkeypatch: pytest.MonkeyPatch) -> None:
    world = StorageWorld()
    world.site(rows=MIN_ROWS)
    world.talk(ALICE, exchanges=LONG // 2)
    monkeypatch.setattr(world.blobs, "get", lambda _scope, _name: pack(RUN))
    with pytest.raises(FencepostError) as caught:
        world.archive.run(ALICE, world.archive_job(ALICE))
    assert caught.value.code == ErrorCode.CONVERSATIONS_UNAVAILABLE
    assert len(world.shelf.messages[owned(ALICE, "c1")]) == LONG
    assert world.row(ALICE).archived_through == 0


def test_an_answer_that_is_rated_while_it_moves_keeps_its_rating() -> None:
    world = StorageWorld()
    world.site(rows=MIN_ROWS)
    world.talk(ALICE, exchanges=LONG // 2)
    rows = world.shelf.messages[owned(ALICE, "c1")]
    world.rows.interfere = lambda: rows.__setitem__(1, replace(rows[1], rating="up"))
    archived(world)
    archived(world)
    assert world.said(ALICE)[1].rating == "up"
    assert world.row(ALICE).archived_through == 2 * BLOCK_MESSAGES
    assert len(world.blobs.objects) == 2


def test_big_contents_move_into_their_block() -> None:
    world = StorageWorld()
    world.site(rows=MIN_ROWS)
    world.talk(ALICE, exchanges=LONG // 2)
    rows, big = world.shelf.messages[owned(ALICE, "c1")], "x" * (BIG_BYTES + 1)
    for place in (1, len(rows) - 1):
        rows[place] = replace(rows[place], content=big)
        name = big_content("c1", rows[place].seq, big.encode())
        world.blobs.put(ALICE, name, big.encode(), "text/plain")
    archived(world)
    assert [one.seq for one in world.said(ALICE) if one.content == big] == [2, LONG]
    assert list(world.blobs.names(ALICE, "conv/c1/big/")) == [name]


def _kept(messages: Sequence[Message]) -> list[int]:
    return [message.seq for message in messages]


def aging(days: int, exchanges: int = 10) -> StorageWorld:
    """Return a conversation with one exchange a day, the first of them so many days ago."""
    world = StorageWorld()
    world.talk(ALICE, exchanges=exchanges, every=timedelta(days=1))
    world.clock.now = NOON + timedelta(days=days)
    return world


def test_what_a_site_does_not_keep_goes_oldest_first() -> None:
    world = aging(days=9)
    world.site(days=3)
    archived(world)
    assert _kept(world.said(ALICE)) == list(range(13, 21))
    assert world.row(ALICE).kept_from == 13
    assert not [pointer for pointer in world.shelf.pointers.values() if pointer.seq < 13]


def test_without_a_number_of_days_everything_is_kept() -> None:
    world = aging(days=10_000)
    world.site(days=0)
    archived(world)
    assert len(world.said(ALICE)) == 20


@pytest.mark.parametrize("left", [9, 1, 0])
def test_rows_that_the_tables_ttl_took_first_leave_no_gap(left: int) -> None:
    world = aging(days=9)
    world.site(days=8)
    rows = world.shelf.messages[owned(ALICE, "c1")]
    world.shelf.messages[owned(ALICE, "c1")] = rows[len(rows) - left :]
    archived(world)
    assert world.row(ALICE).kept_from == len(rows) - left + 1
    assert len(world.said(ALICE)) == left


def test_a_question_that_waits_goes_like_any_other_message() -> None:
    world = aging(days=100)
    world.site(days=3)
    rows = world.shelf.messages[owned(ALICE, "c1")]
    rows[6] = replace(rows[6], status=MessageStatus.PENDING)
    archived(world)
    assert world.said(ALICE) == []


def idle(days: int = 3) -> StorageWorld:
    """Return a conversation of a site that keeps messages for so many days, the last of them long ago."""
    world = aging(days=100)
    world.site(days=days)
    place = owned(ALICE, "c1")
    world.shelf.conversations[place] = replace(world.row(ALICE), keep_days=days, updated_at=NOON + timedelta(days=9))
    return world


def test_a_conversation_of_which_nothing_is_left_goes_itself() -> None:
    world = idle()
    archived(world)
    assert owned(ALICE, "c1") not in world.shelf.conversations


def test_a_question_that_is_asked_keeps_its_conversation() -> None:
    world = idle()
    turn = OpenTurn(message_id="q", seq=21, holder="h", until=world.clock())
    world.shelf.conversations[owned(ALICE, "c1")] = replace(world.row(ALICE), open_turn=turn)
    archived(world)
    assert world.row(ALICE).kept_from == 21


@pytest.mark.parametrize("fault", ["before", "after"])
def test_a_crash_while_a_conversation_goes_is_finished_by_the_next_run(fault: Fault) -> None:
    world = idle()
    start = len(world.faults.calls)
    archived(world)
    for call in range(len(world.faults.calls) - start):
        world = idle()
        job = world.archive_job(ALICE)
        world.faults.at(call, fault)
        with pytest.raises(FencepostError):
            world.archive.run(ALICE, job)
        world.faults.due.clear()
        world.archive.run(ALICE, job)
        assert not world.shelf.conversations
        assert not world.shelf.pointers
        assert not world.shelf.messages[owned(ALICE, "c1")]


def test_a_job_that_expiry_asked_for_is_bound_to_no_incarnation() -> None:
    world = idle()
    world.archive.run(ALICE, job_after_expiry(ALICE.org, ALICE.owner, "c1", NOON))
    assert not world.shelf.conversations


SUMMARY = Summary(
    id="s1",
    lines=(),
    first_seq=1,
    last_seq=16,
    content_hash="0" * 64,
    prompt_version="1",
    model="m",
    created_at=NOON,
)


@pytest.mark.parametrize("fault", [None, "before", "after"])
def test_a_summary_does_not_reach_over_what_is_gone(fault: Fault | None) -> None:
    world = aging(days=9)
    world.site(days=3)
    world.memory.write_summary(ALICE, "c1", world.row(ALICE).incarnation, SUMMARY)
    if fault:
        world.memory.faults.due.extend([None, fault])
        with pytest.raises(FencepostError):
            archived(world)
    archived(world)
    assert world.memory.summary(ALICE, "c1") is None
    assert world.row(ALICE).summarised_through == 0


def test_a_summary_of_what_is_left_stays() -> None:
    world = aging(days=9)
    world.site(days=3)
    archived(world)
    late = replace(SUMMARY, first_seq=13)
    world.memory.write_summary(ALICE, "c1", world.row(ALICE).incarnation, late)
    archived(world)
    assert world.memory.summary(ALICE, "c1") == late


def old_and_archived() -> StorageWorld:
    """Return a long conversation, an exchange an hour, whose two first blocks have moved."""
    world = StorageWorld()
    world.site(rows=MIN_ROWS)
    world.talk(ALICE, exchanges=LONG // 2, every=timedelta(hours=1))
    archived(world)
    assert len(world.blobs.objects) == 2
    # Now the first block is too old, and the second one in part.
    world.site(rows=MIN_ROWS, days=1)
    world.clock.now = NOON + timedelta(days=1, hours=30)
    return world


def test_blocks_go_whole_and_what_is_too_old_in_one_is_hidden() -> None:
    world = old_and_archived()
    archived(world)
    assert _kept(world.said(ALICE)) == list(range(61, LONG + 1))
    assert len(world.blobs.objects) == 1
    assert len(world.rows.blocks(ALICE, "c1")) == 1
    assert not [pointer for pointer in world.shelf.pointers.values() if pointer.seq <= BLOCK_MESSAGES]


@pytest.mark.parametrize("fault", ["before", "after"])
def test_a_crash_while_old_messages_go_is_finished_by_the_next_run(fault: Fault) -> None:
    world = old_and_archived()
    start = len(world.faults.calls)
    archived(world)
    for call in range(len(world.faults.calls) - start):
        world = old_and_archived()
        world.faults.at(call, fault)
        with pytest.raises(FencepostError):
            world.archive.run(ALICE, world.archive_job(ALICE))
        world.faults.due.clear()
        assert _kept(world.said(ALICE)) in (list(range(61, LONG + 1)), list(range(1, LONG + 1)))
        archived(world)
        assert _kept(world.said(ALICE)) == list(range(61, LONG + 1))
        assert len(world.blobs.objects) == 1


def test_rows_of_a_site_with_days_end_by_themselves() -> None:
    assert expiry(7, NOON) == NOON + timedelta(days=7)
    assert expiry(0, NOON) is None
