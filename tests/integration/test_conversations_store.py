"""Conversations on the emulated DynamoDB: lists, messages wherever they stand, ratings and contexts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from fencepost.adapters.dynamodb import keys
from fencepost.adapters.dynamodb.archive import DynamoDbArchive
from fencepost.adapters.dynamodb.client import CONFLICT_PAUSES
from fencepost.adapters.dynamodb.conversation_rows import AnswerEntry, conversation_item, pointer_item
from fencepost.adapters.dynamodb.conversations import DynamoDbConversations
from fencepost.adapters.dynamodb.jobs import DynamoDbJobStore
from fencepost.adapters.dynamodb.message_rows import MessageRows
from fencepost.adapters.dynamodb.reading import READ_AT_ONCE
from fencepost.adapters.dynamodb.rows import attribute, nested, timestamp
from fencepost.domain.archives import BLOCK_MESSAGES, describe, pack
from fencepost.domain.errors import FencepostError
from fencepost.domain.identity import Scope
from fencepost.domain.jobs import Purpose
from fencepost.domain.messages import AnswerContext, Conversation, Message, MessagePointer, OpenTurn
from fencepost.domain.objects import BIG_BYTES, block
from fencepost.services.jobs import new_record
from local.emulator import Emulator
from tests import api_world
from tests.fakes import FixedClock
from tests.fakes_blobs import FakeBlobs
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables, visitor_scope

SCOPE = visitor_scope()
NOW = datetime(2026, 3, 14, 12, 0, 30, 123456, tzinfo=UTC)
CLOCK = FixedClock(NOW)


class Kept:
    """The adapter with its table, and what stands in it."""

    def __init__(self, tables: ConversationTables) -> None:
        self.tables = tables
        self.blobs = FakeBlobs()
        self.store = DynamoDbConversations(tables.conversations, self.blobs, lambda: tables.client)

    def put(self, item: object) -> None:
        self.tables.client.put_item(TableName=self.tables.conversations, Item=item)  # type: ignore[arg-type]  # any row

    def converse(self, name: str, turns: int, scope: Scope = SCOPE, **changes: object) -> Conversation:
        """Store a conversation with so many turns."""
        row = replace(api_world.conversation(name, turns, CLOCK), **changes)  # type: ignore[arg-type]  # any fields
        self.put(conversation_item(scope, row))
        for number in range(1, turns + 1):
            question, answer = api_world.exchange(name, number, CLOCK)
            self.say(scope, name, question, answer)
            pointer = MessagePointer(question.id, name, question.seq, "f" * 64)
            self.put(pointer_item(scope, pointer, {1: AnswerEntry(seq=answer.seq, context=_context(answer))}))
        return row

    def say(self, scope: Scope, name: str, *messages: Message) -> None:
        for message in messages:
            self.put(MessageRows(self.blobs).item(scope, name, message))

    def wait(self, name: str, row: Conversation, seq: int = 0) -> None:
        """Let a question wait in the conversation's own row, as a claim does."""
        turn = OpenTurn(message_id="waiting", seq=seq, holder="h", until=NOW)
        extra = {
            "open_turn": nested(turn),
            "open_content": attribute("Still there?"),
            "open_attachments": attribute([]),
            "open_at": attribute(timestamp(NOW)),
        }
        self.put(conversation_item(SCOPE, row) | extra)

    def archive(self, row: Conversation, blocks: int) -> Conversation:
        """Move so many blocks of a conversation's messages."""
        archive = DynamoDbArchive(self.tables.conversations, self.blobs, lambda: self.tables.client)
        for _ in range(blocks):
            messages = archive.rows(SCOPE, row.id, after=row.archived_through, limit=BLOCK_MESSAGES)
            content = pack(messages)
            name = block(row.id, messages[0].seq, content)
            self.blobs.put(SCOPE, name, content, "application/gzip")
            assert archive.move(SCOPE, row, describe(name, content, messages), messages)
            row = replace(row, archived_through=messages[-1].seq)
        return row

    def seqs(self, name: str, limit: int, *, newest_first: bool = False) -> list[int]:
        """Follow a conversation's messages to the end, page by page."""
        found, after = list[int](), None
        while True:
            page = self.store.messages(SCOPE, name, after=after, limit=limit, newest_first=newest_first)
            found += [message.seq for message in page.items]
            if page.next_key is None:
                return found
            assert len(page.items) == limit
            after = int(page.next_key)


def _context(answer: Message) -> AnswerContext:
    return api_world.context(answer, CLOCK)


@pytest.fixture(scope="module")
def tables(emulator: Emulator) -> ConversationTables:
    return open_conversation_tables(emulator.endpoint_url)


@pytest.fixture
def kept(emulator: Emulator) -> Kept:
    return Kept(open_conversation_tables(emulator.endpoint_url))


def listed(kept: Kept, limit: int, title: str = "", scope: Scope = SCOPE) -> list[list[str]]:
    pages, after = [], None
    while True:
        page = kept.store.newest(scope, after=after, limit=limit, title_contains=title)
        pages.append([row.id for row in page.items])
        if page.next_key is None:
            return pages
        after = page.next_key


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
    monkeypatch.setattr("fencepost.adapters.dynamodb.listing.LOOKED_AT", 3)
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


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("limit", [1, 4, 5, 6, 7, 8])
def test_messages_are_paged_in_both_directions(kept: Kept, limit: int, *, newest_first: bool) -> None:
    kept.wait("c1", kept.converse("c1", 3))
    assert kept.seqs("c1", limit, newest_first=newest_first) == sorted(range(1, 8), reverse=newest_first)


def test_the_waiting_question_is_pending_until_it_is_a_row(kept: Kept) -> None:
    row = kept.converse("c1", 1)
    kept.wait("c1", row)
    last = kept.store.messages(SCOPE, "c1", after=2, limit=9, newest_first=False).items
    assert [(message.id, message.seq, message.status, message.content) for message in last] == [
        ("waiting", 3, "pending", "Still there?")
    ]
    kept.wait("c1", row, seq=1)
    found = kept.store.messages(SCOPE, "c1", after=None, limit=9, newest_first=False).items
    assert [message.content for message in found] == ["Question 1 of c1?", "Answer 1 of c1."]


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


def test_what_retention_dropped_is_not_shown(kept: Kept) -> None:
    row = kept.converse("c1", 3)
    kept.put(conversation_item(SCOPE, replace(row, kept_from=4)))
    assert kept.seqs("c1", 2) == [4, 5, 6]
    assert kept.seqs("c1", 2, newest_first=True) == [6, 5, 4]


def test_a_big_content_is_read_back(kept: Kept) -> None:
    row = kept.converse("c1", 1)
    big = replace(api_world.exchange("c1", 1, CLOCK)[1], content="ß" * BIG_BYTES)
    kept.say(SCOPE, "c1", big)
    assert kept.store.messages(SCOPE, row.id, after=1, limit=1, newest_first=False).items == (big,)
    kept.blobs.delete(SCOPE, "")
    with pytest.raises(FencepostError, match="conversations_unavailable"):
        kept.store.messages(SCOPE, row.id, after=1, limit=1, newest_first=False)


def test_messages_come_back_as_they_were_said(kept: Kept) -> None:
    kept.converse("c1", 2)
    found = kept.store.messages(SCOPE, "c1", after=None, limit=9, newest_first=False)
    assert found.items == (*api_world.exchange("c1", 1, CLOCK), *api_world.exchange("c1", 2, CLOCK))


@pytest.mark.parametrize("archived", [0, 1])
def test_ratings_are_kept_taken_back_and_survive_the_archive(kept: Kept, archived: int) -> None:
    row = kept.converse("c1", 30)
    pointer = kept.store.pointer(SCOPE, "c1-2")
    assert pointer == MessagePointer("c1-2", "c1", 3, "f" * 64)
    assert kept.store.rate(SCOPE, pointer, None, "up")
    kept.archive(row, archived)
    assert kept.store.messages(SCOPE, "c1", after=3, limit=1, newest_first=False).items[0].rating == "up"
    assert kept.store.rate(SCOPE, pointer, "c1-2.1", "down")
    assert kept.store.messages(SCOPE, "c1", after=5, limit=2, newest_first=True).items[0].rating == "down"
    assert kept.store.rate(SCOPE, pointer, None, None)
    assert kept.store.messages(SCOPE, "c1", after=3, limit=1, newest_first=False).items[0].rating is None
    assert not kept.store.rate(SCOPE, pointer, "c1-2.2", "up")


def test_an_answers_context_is_found_by_both_ids(kept: Kept) -> None:
    kept.converse("c1", 2)
    answer = api_world.exchange("c1", 1, CLOCK)[1]
    pointer = kept.store.pointer(SCOPE, answer.id)
    assert pointer is not None
    assert kept.store.context(SCOPE, pointer, None) == _context(answer)
    assert kept.store.context(SCOPE, pointer, answer.id) == _context(answer)
    assert kept.store.context(SCOPE, pointer, "c1-1.2") is None


def test_all_answers_contexts_come_in_the_order_of_their_questions(kept: Kept) -> None:
    turns = READ_AT_ONCE + 5
    kept.converse("c1", turns)
    answers = [api_world.exchange("c1", number, CLOCK)[1] for number in range(1, turns + 1)]
    asked = [f"c1-{number}" for number in range(1, turns + 1)]
    assert list(kept.store.contexts(SCOPE, [*asked, "absent"])) == [_context(answer) for answer in answers]
    assert next(kept.store.contexts(SCOPE, asked[::-1])).answer_id == answers[-1].id
    assert list(kept.store.contexts(visitor_scope(visitor="v2"), asked)) == []


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


def test_feedback_waits_for_the_turn_that_is_being_stored(kept: Kept) -> None:
    kept.converse("c1", 1)
    met = kept.tables.conflict("TransactWriteItems", 3)
    pointer = kept.store.pointer(SCOPE, "c1-1")
    assert pointer
    assert kept.store.rate(SCOPE, pointer, None, "up")
    assert len(met) == 3


def test_the_newest_revision_answers_for_its_question(kept: Kept) -> None:
    kept.converse("c1", 1)
    answers = {revision: AnswerEntry(seq=revision + 1) for revision in range(1, 12)}
    answer = replace(api_world.exchange("c1", 1, CLOCK)[1], id="c1-1.11", seq=12)
    answers[11] = AnswerEntry(seq=12, context=api_world.context(answer, CLOCK))
    pointer = MessagePointer("c1-1", "c1", 1, "f" * 64)
    kept.put(pointer_item(SCOPE, pointer, answers))
    assert kept.store.context(SCOPE, pointer, None) == _context(answer)


def test_a_question_without_an_answer_has_nothing_to_rate(kept: Kept) -> None:
    pointer = MessagePointer("q1", "c1", 1, "f" * 64)
    kept.put(pointer_item(SCOPE, pointer, {}))
    assert not kept.store.rate(SCOPE, pointer, None, "up")
    assert kept.store.context(SCOPE, pointer, None) is None


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
