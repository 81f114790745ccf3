"""Conversations on the emulated DynamoDB: lists beside rows of jobs, and renames beside a turn that settles.

What every `ConversationStore` does is in `tests.conformance.conversations`.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.kernel.errors import FencepostError
from fencepost.queue.domain import Purpose
from fencepost.queue.dynamodb import DynamoDbJobStore
from fencepost.queue.service import new_record
from local.emulator import Emulator
from tests.integration.conversation_tables import open_conversation_tables
from tests.integration.kept_conversations import NOW, SCOPE, Kept, listed


@pytest.fixture
def kept(emulator: Emulator) -> Kept:
    return Kept(open_conversation_tables(emulator.endpoint_url))


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 8])
def test_the_list_is_in_the_order_of_change(kept: Kept, limit: int) -> None:
    for number in range(7):
        kept.converse(f"c{number}", 0, updated_at=NOW + timedelta(microseconds=number))
        # A job has a time of change as well, and is about a conversation.
        at = NOW + timedelta(microseconds=number)
        record = new_record(SCOPE, Purpose.EXPORT, at, site="docs", conversation=f"c{number}", incarnation="i")
        DynamoDbJobStore(kept.tables.conversations, lambda: kept.tables.client).queue(SCOPE, record)
    found = listed(kept, limit)
    assert [name for page in found for name in page] == [f"c{number}" for number in range(6, -1, -1)]
    assert all(len(page) == limit for page in found[:-1])
    assert found[-1]


def test_any_number_of_newer_jobs_neither_fills_nor_ends_a_page(kept: Kept) -> None:
    for number in range(3):
        kept.converse(f"c{number}", 0, updated_at=NOW + timedelta(seconds=number))
    jobs = DynamoDbJobStore(kept.tables.conversations, lambda: kept.tables.client)
    for number in range(25):
        jobs.queue(SCOPE, new_record(SCOPE, Purpose.EXPORT, NOW + timedelta(seconds=number / 5), site="docs"))
    assert listed(kept, 1) == [["c2"], ["c1"], ["c0"]]
    assert listed(kept, 2) == [["c2", "c1"], ["c0"]]
    assert listed(kept, 3) == [["c2", "c1", "c0"]]


def test_a_search_reads_only_so_much_and_says_where_to_go_on(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.conversations.dynamodb.conversations.LOOKED_AT", 3)
    for number in range(8):
        kept.converse(f"c{number}", 0, title="Rain" if number == 0 else "Sun", updated_at=NOW + timedelta(number))
    assert listed(kept, 2, "rain") == [[], [], ["c0"]]


def test_a_rename_waits_for_the_turn_that_is_being_stored(kept: Kept) -> None:
    kept.converse("c1", 1, title="Rain")
    met = kept.tables.conflict("UpdateItem", 3)
    renamed = kept.store.rename(SCOPE, "c1", "Snow", NOW)
    assert renamed == kept.store.get(SCOPE, "c1")
    assert (renamed and renamed.title, len(met)) == ("Snow", 3)


def test_a_rename_does_not_wait_for_ever(kept: Kept) -> None:
    kept.converse("c1", 1, title="Rain")
    met = kept.tables.conflict("UpdateItem", 99)
    with pytest.raises(FencepostError, match="conversations_unavailable"):
        kept.store.rename(SCOPE, "c1", "Snow", NOW)
    assert 6 < len(met) < 30
