"""A block of archived messages: the same bytes for the same messages, never read when damaged; and when one is due."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.conversations.domain.archives import (
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
from fencepost.conversations.domain.messages import MessageStatus
from fencepost.identity.domain.sites import Retention
from tests.worlds.archive_scenes import ALICE, RUN
from tests.worlds.storage import NOON, StorageWorld

texts = st.text(st.characters(codec="utf-8"), max_size=80)


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


def test_rows_of_a_site_with_days_end_by_themselves() -> None:
    assert expiry(7, NOON) == NOON + timedelta(days=7)
    assert expiry(0, NOON) is None
