"""Messages on the emulated DynamoDB: archived ones, big ones, and feedback beside a turn that settles.

What every `ConversationStore` does is in `tests.conformance.messages`.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.blobs.domain import BIG_BYTES
from fencepost.conversations.domain.messages import MessagePointer
from fencepost.kernel.errors import FencepostError
from local.emulator import Emulator
from tests.integration.conversation_tables import open_conversation_tables
from tests.integration.kept_conversations import CLOCK, SCOPE, Kept
from tests.worlds import api as api_world


@pytest.fixture
def kept(emulator: Emulator) -> Kept:
    return Kept(open_conversation_tables(emulator.endpoint_url))


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("limit", [1, 7, 49, 50, 51, 100, 200])
def test_archived_messages_are_read_as_if_they_were_rows(kept: Kept, limit: int, *, newest_first: bool) -> None:
    row = kept.archive(kept.converse("c1", 65), 2)
    kept.wait("c1", row)
    if limit == 1:
        kept.wait("c1", replace(row, kept_from=90))
        assert kept.seqs("c1", 1, newest_first=newest_first) == sorted(range(90, 132), reverse=newest_first)
    else:
        assert kept.seqs("c1", limit, newest_first=newest_first) == sorted(range(1, 132), reverse=newest_first)


def test_rows_alone_are_read_where_they_suffice(kept: Kept) -> None:
    kept.archive(kept.converse("c1", 40), 1)
    kept.blobs.faults.calls.clear()
    page = kept.store.messages(SCOPE, "c1", after=None, limit=29, newest_first=True)
    assert [message.seq for message in page.items] == list(range(80, 51, -1))
    assert kept.store.messages(SCOPE, "c1", after=50, limit=30, newest_first=False).items[0].seq == 51
    assert kept.blobs.faults.calls == []


def test_a_big_content_is_read_back(kept: Kept) -> None:
    row = kept.converse("c1", 1)
    big = replace(api_world.exchange("c1", 1, CLOCK)[1], content="ß" * BIG_BYTES)
    kept.say(SCOPE, "c1", big)
    assert kept.store.messages(SCOPE, row.id, after=1, limit=1, newest_first=False).items == (big,)
    kept.blobs.delete(SCOPE, "")
    with pytest.raises(FencepostError, match="conversations_unavailable"):
        kept.store.messages(SCOPE, row.id, after=1, limit=1, newest_first=False)


def test_ratings_are_kept_taken_back_and_survive_the_archive(kept: Kept) -> None:
    row = kept.converse("c1", 30)
    pointer = kept.store.pointer(SCOPE, "c1-2")
    assert pointer == MessagePointer("c1-2", "c1", 3, "f" * 64)
    assert kept.store.rate(SCOPE, pointer, None, "up")
    kept.archive(row, 1)
    assert kept.store.messages(SCOPE, "c1", after=3, limit=1, newest_first=False).items[0].rating == "up"
    assert kept.store.rate(SCOPE, pointer, "c1-2.1", "down")
    assert kept.store.messages(SCOPE, "c1", after=5, limit=2, newest_first=True).items[0].rating == "down"
    assert kept.store.rate(SCOPE, pointer, None, None)
    assert kept.store.messages(SCOPE, "c1", after=3, limit=1, newest_first=False).items[0].rating is None
    assert not kept.store.rate(SCOPE, pointer, "c1-2.2", "up")


def test_feedback_waits_for_the_turn_that_is_being_stored(kept: Kept) -> None:
    kept.converse("c1", 1)
    met = kept.tables.conflict("TransactWriteItems", 3)
    pointer = kept.store.pointer(SCOPE, "c1-1")
    assert pointer
    assert kept.store.rate(SCOPE, pointer, None, "up")
    assert len(met) == 3
