"""Conversations on the emulated DynamoDB: their rows, their lists and their titles."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.conversations.domain.messages import MessagePointer
from fencepost.conversations.dynamodb.conversations import DynamoDbConversations
from fencepost.identity import rows as keys
from fencepost.kernel.aws.legacy.client import CONFLICT_PAUSES
from fencepost.kernel.errors import FencepostError
from fencepost.queue.domain import Purpose
from fencepost.queue.dynamodb import DynamoDbJobStore
from fencepost.queue.service import new_record
from local.emulator import Emulator
from tests.fakes.blobs import FakeBlobs
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables, visitor_scope
from tests.integration.kept_conversations import NOW, SCOPE, Kept, listed


@pytest.fixture
def kept(emulator: Emulator) -> Kept:
    return Kept(open_conversation_tables(emulator.endpoint_url))


def test_a_row_comes_back_whole_and_to_its_owner_alone(kept: Kept) -> None:
    row = kept.converse("c1", 1, title="Rain")
    assert kept.store.get(SCOPE, "c1") == row
    for stranger in (visitor_scope(visitor="v2"), visitor_scope("zeta"), kept.tables.member_scope()):
        assert kept.store.get(stranger, "c1") is None
        assert kept.store.newest(stranger, after=None, limit=9).items == ()
        assert kept.store.messages(stranger, "c1", after=None, limit=9, newest_first=False).items == ()
        assert kept.store.rename(stranger, "c1", "Mine", NOW) is None
        assert kept.store.pointer(stranger, "c1-1") is None


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


def test_rows_of_the_same_moment_are_all_listed(kept: Kept) -> None:
    names = [f"c{number}" for number in range(5)]
    for name in names:
        kept.converse(name, 0)
    assert sorted(name for page in listed(kept, 2) for name in page) == names


def test_a_list_goes_on_where_a_conversation_was_removed(kept: Kept) -> None:
    for number in range(3):
        kept.converse(f"c{number}", 0, updated_at=NOW + timedelta(seconds=number))
    page = kept.store.newest(SCOPE, after=None, limit=1)
    kept.tables.client.delete_item(TableName=kept.tables.conversations, Key=keys.conversation_row(SCOPE, "c2"))
    rest = kept.store.newest(SCOPE, after=page.next_key, limit=9)
    assert [row.id for row in rest.items] == ["c1", "c0"]


def test_titles_are_searched_folded(kept: Kept) -> None:
    for number, title in enumerate(["Größe", "GRÖSSE", "größte", "日本語のタイトル"]):
        kept.converse(f"c{number}", 0, title=title, updated_at=NOW + timedelta(seconds=number))
    assert listed(kept, 9, "grösse") == [["c1", "c0"]]
    assert listed(kept, 1, "grösse") == [["c1"], ["c0"]]
    assert listed(kept, 9, "日本") == [["c3"]]


def test_a_search_reads_only_so_much_and_says_where_to_go_on(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.conversations.dynamodb.listing.LOOKED_AT", 3)
    for number in range(8):
        kept.converse(f"c{number}", 0, title="Rain" if number == 0 else "Sun", updated_at=NOW + timedelta(number))
    assert listed(kept, 2, "rain") == [[], [], ["c0"]]


def test_renaming_moves_to_the_top_and_keeps_the_rest(kept: Kept) -> None:
    row = kept.converse("c1", 1)
    kept.converse("c2", 1, updated_at=NOW + timedelta(seconds=1))
    later = NOW + timedelta(seconds=2)
    assert kept.store.rename(SCOPE, "c1", "New", later) == replace(row, title="New", updated_at=later)
    assert listed(kept, 9) == [["c1", "c2"]]
    assert kept.store.rename(SCOPE, "absent", "New", later) is None
    assert kept.store.get(SCOPE, "absent") is None


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
    assert len(met) == len(CONFLICT_PAUSES)


def test_a_store_that_does_not_answer(tables: ConversationTables) -> None:
    gone = DynamoDbConversations("no-such-table", FakeBlobs(), lambda: tables.client)
    pointer = MessagePointer("q1", "c1", 1, "f" * 64)
    for call in (
        lambda: gone.get(SCOPE, "c1"),
        lambda: gone.newest(SCOPE, after=None, limit=1),
        lambda: gone.rename(SCOPE, "c1", "New", NOW),
        lambda: gone.messages(SCOPE, "c1", after=None, limit=1, newest_first=True),
        lambda: gone.pointer(SCOPE, "q1"),
        lambda: gone.rate(SCOPE, pointer, None, "up"),
        lambda: gone.context(SCOPE, pointer, None),
    ):
        with pytest.raises(FencepostError, match="conversations_unavailable"):
            call()
