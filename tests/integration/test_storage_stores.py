"""Archives and imports on the emulated DynamoDB and S3: their services over them, races, and erasures.

What every store does is in `tests.conformance.archives` and `tests.conformance.imports`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.blobs.domain import BIG_BYTES
from fencepost.conversations.domain.archives import BLOCK_MESSAGES, MIN_ROWS
from fencepost.conversations.domain.messages import Conversation
from fencepost.kernel.errors import ErrorCode, FencepostError
from local.emulator import Emulator
from tests.integration.storage_stores import (
    ALICE,
    NOON,
    Stores,
    archived,
    exported,
    job_of,
    open_stores,
    question,
    talk,
)
from tests.worlds.storage import context_of


@pytest.fixture
def stores(emulator: Emulator) -> Stores:
    return open_stores(emulator)


def test_old_rows_move_to_blocks_and_read_as_before_in_both_directions(stores: Stores) -> None:
    messages = talk(MIN_ROWS // 2 + 60)
    messages[3] = replace(messages[3], content="柵" * BIG_BYTES, rating="up")
    stores.write(ALICE, messages)
    archived(stores, rows=MIN_ROWS)
    row = stores.conversations.get(ALICE, "c1")
    assert row is not None
    assert row.archived_through == 2 * BLOCK_MESSAGES
    assert len(stores.tables.messages(ALICE, "c1")) == len(messages) - 2 * BLOCK_MESSAGES
    assert stores.said(ALICE) == messages
    backwards = stores.conversations.messages(ALICE, "c1", after=120, limit=100, newest_first=True)
    assert list(backwards.items) == messages[19:119][::-1]
    assert len(list(stores.blobs.names(ALICE, "conv/c1/"))) == 2


def test_a_reader_misses_nothing_while_messages_move(stores: Stores) -> None:
    messages = talk(MIN_ROWS // 2 + 60)
    stores.write(ALICE, messages)
    with ThreadPoolExecutor(1) as pool:
        moving = pool.submit(archived, stores, rows=MIN_ROWS)
        while not moving.done():
            assert stores.said(ALICE) == messages
        moving.result()
    assert stores.said(ALICE) == messages


def test_many_workers_move_each_block_once(stores: Stores) -> None:
    messages = talk(MIN_ROWS // 2 + 60)
    stores.write(ALICE, messages)

    def work(_: int) -> None:
        try:
            archived(stores, rows=MIN_ROWS)
        except FencepostError as error:
            if error.code is not ErrorCode.CONVERSATIONS_UNAVAILABLE:
                raise

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    archived(stores, rows=MIN_ROWS)
    assert stores.said(ALICE) == messages
    assert [block.first_seq for block in stores.archive.blocks(ALICE, "c1")] == [1, 51]


def test_what_a_site_does_not_keep_goes_with_what_points_to_it(stores: Stores) -> None:
    messages = talk(MIN_ROWS // 2 + 60, every=timedelta(hours=1))
    messages[149] = replace(messages[149], content="x" * (BIG_BYTES + 1))
    stores.write(ALICE, messages)
    archived(stores, rows=MIN_ROWS)
    stores.clock.now = NOON + timedelta(hours=99)
    archived(stores, rows=MIN_ROWS, days=1)
    assert stores.said(ALICE) == messages[150:]
    assert list(stores.blobs.names(ALICE, "conv/c1/")) == []
    assert [name for name in ("q1", "q149", "q151") if stores.conversations.pointer(ALICE, name)] == ["q151"]


def test_an_import_that_was_asked_for_before_an_erasure_brings_nothing_back(stores: Stores) -> None:
    stores.write(ALICE, talk(1))
    stores.eraser.forget_conversation(ALICE, "c1", NOON + timedelta(seconds=1))
    with pytest.raises(FencepostError):
        stores.imports.begin(ALICE, "c1", job_of(ALICE, "j2", NOON + timedelta(seconds=2)), "second")
    stores.eraser.sweep(ALICE, "c1", 1_000)
    assert stores.imports.begin(ALICE, "c1", job_of(ALICE, "j2"), "second") is None
    assert stores.imports.begin(ALICE, "c1", job_of(ALICE, "j3", NOON + timedelta(seconds=2)), "third") == "third"


def test_an_erasure_of_everything_ends_an_import_and_finds_what_it_wrote(stores: Stores) -> None:
    assert stores.imports.begin(ALICE, "c1", job_of(ALICE), "first")
    big = replace(talk(1)[1], content="x" * (BIG_BYTES + 1))
    assert stores.imports.write_messages(ALICE, "c1", "first", [talk(1)[0], big])
    assert stores.imports.write_questions(ALICE, "c1", "first", [question(talk(1)[0], "c1")])
    stores.eraser.forget_owner(ALICE, NOON + timedelta(seconds=1))
    assert not stores.imports.write_messages(ALICE, "c1", "first", [big])
    row = Conversation(
        id="c1", site="docs", incarnation="first", title="", created_at=NOON, updated_at=NOON, next_seq=3
    )
    assert not stores.imports.finish(ALICE, row)
    while stores.eraser.sweep(ALICE, None, 1_000):
        pass
    assert stores.leftovers() == []
    assert list(stores.blobs.names(ALICE, "")) == []
    assert stores.imports.begin(ALICE, "c1", job_of(ALICE), "again") is None


def test_export_import_export_is_equal(stores: Stores) -> None:
    messages = talk(MIN_ROWS // 2 + 60)
    messages[-1] = replace(messages[-1], content="柵" * BIG_BYTES)
    stores.write(ALICE, messages)
    archived(stores, rows=MIN_ROWS)
    bundle = exported(stores)
    stores.eraser.forget_owner(ALICE, NOON + timedelta(seconds=1))
    while stores.eraser.sweep(ALICE, None, 10_000):
        pass
    stores.clock.advance(10)
    record = stores.importing().take(ALICE, "docs", bundle)
    stores.importing().run(ALICE, record.job)
    assert stores.said(ALICE) == messages
    assert exported(stores) == bundle
    pointer = stores.conversations.pointer(ALICE, messages[-1].id)
    assert pointer
    assert stores.conversations.context(ALICE, pointer, None) == context_of(messages[-1])
