"""Old messages go where a site does not keep them, oldest first, and what is about them follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.conversations.domain.archives import BLOCK_MESSAGES, MIN_ROWS
from fencepost.conversations.domain.messages import Message, MessageStatus, OpenTurn
from fencepost.jobs.domain.outbox import job_after_expiry
from fencepost.kernel.errors import FencepostError
from fencepost.memory.domain.summaries import Summary
from tests.fakes.answers import Fault
from tests.fakes.conversations import owned
from tests.worlds.archive_scenes import ALICE, LONG, archived
from tests.worlds.storage import NOON, StorageWorld


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
