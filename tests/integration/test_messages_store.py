"""Messages on the emulated DynamoDB: read wherever they stand, with their ratings and what went into them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.blobs.domain import BIG_BYTES
from fencepost.conversations.domain.messages import MessagePointer
from fencepost.conversations.rows.conversation_rows import AnswerEntry, conversation_item, pointer_item
from fencepost.kernel.aws.legacy.reading import READ_AT_ONCE
from fencepost.kernel.errors import FencepostError
from local.emulator import Emulator
from tests.integration.conversation_tables import open_conversation_tables, visitor_scope
from tests.integration.kept_conversations import CLOCK, SCOPE, Kept, context_of
from tests.worlds import api as api_world


@pytest.fixture
def kept(emulator: Emulator) -> Kept:
    return Kept(open_conversation_tables(emulator.endpoint_url))


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
    assert kept.store.context(SCOPE, pointer, None) == context_of(answer)
    assert kept.store.context(SCOPE, pointer, answer.id) == context_of(answer)
    assert kept.store.context(SCOPE, pointer, "c1-1.2") is None


def test_all_answers_contexts_come_in_the_order_of_their_questions(kept: Kept) -> None:
    turns = READ_AT_ONCE + 5
    kept.converse("c1", turns)
    answers = [api_world.exchange("c1", number, CLOCK)[1] for number in range(1, turns + 1)]
    asked = [f"c1-{number}" for number in range(1, turns + 1)]
    assert list(kept.store.contexts(SCOPE, [*asked, "absent"])) == [context_of(answer) for answer in answers]
    assert next(kept.store.contexts(SCOPE, asked[::-1])).answer_id == answers[-1].id
    assert list(kept.store.contexts(visitor_scope(visitor="v2"), asked)) == []


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
    assert kept.store.context(SCOPE, pointer, None) == context_of(answer)


def test_a_question_without_an_answer_has_nothing_to_rate(kept: Kept) -> None:
    pointer = MessagePointer("q1", "c1", 1, "f" * 64)
    kept.put(pointer_item(SCOPE, pointer, {}))
    assert not kept.store.rate(SCOPE, pointer, None, "up")
    assert kept.store.context(SCOPE, pointer, None) is None
