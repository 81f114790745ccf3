"""Conformance tests of every `ConversationStore`: messages, their ratings, and the contexts of answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from fencepost.conversations.domain.messages import AnswerContext, MessagePointer
from fencepost.conversations.ports import ConversationStore
from fencepost.identity.domain.scope import Scope
from tests.conformance.backdrop import CLOCK, Backdrop, context_of
from tests.conformance.samples import NOW, visitor_scope
from tests.worlds import api as api_world

MANY_TURNS = 105
"""More questions than one batch of reads holds."""


class MessageConformance:
    """The tests. A subclass provides `subject`, whose clock returns `READ_AT`, and its `backdrop`."""

    @pytest.fixture
    def scope(self) -> Scope:
        return visitor_scope(visitor=uuid4().hex)

    @pytest.mark.parametrize("newest_first", [False, True])
    @pytest.mark.parametrize("limit", [1, 4, 5, 6, 7, 8])
    def test_messages_are_paged_in_both_directions(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope, limit: int, *, newest_first: bool
    ) -> None:
        backdrop.wait(scope, backdrop.converse(scope, "c1", 3), 7)
        expected = sorted(range(1, 8), reverse=newest_first)
        assert numbers(subject, scope, limit, newest_first=newest_first) == expected

    def test_messages_are_returned_as_stored(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.converse(scope, "c1", 2)
        found = subject.messages(scope, "c1", after=None, limit=9, newest_first=False)
        assert found.items == (*api_world.exchange("c1", 1, CLOCK), *api_world.exchange("c1", 2, CLOCK))
        assert subject.messages(scope, "absent", after=None, limit=9, newest_first=False).items == ()

    def test_the_waiting_question_is_pending_until_it_is_a_row(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        row = backdrop.converse(scope, "c1", 1)
        backdrop.wait(scope, row, 3)
        last = subject.messages(scope, "c1", after=2, limit=9, newest_first=False).items
        assert [(message.id, message.seq, message.status, message.content) for message in last] == [
            ("waiting", 3, "pending", "Still there?")
        ]

    def test_a_question_that_is_a_row_is_not_shown_twice(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.wait(scope, backdrop.converse(scope, "c1", 1), 1)
        found = subject.messages(scope, "c1", after=None, limit=9, newest_first=False).items
        assert [message.content for message in found] == ["Question 1 of c1?", "Answer 1 of c1."]

    def test_messages_below_kept_from_are_not_shown(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.converse(scope, "c1", 3, kept_from=4)
        assert numbers(subject, scope, 2) == [4, 5, 6]
        assert numbers(subject, scope, 2, newest_first=True) == [6, 5, 4]

    def test_messages_past_their_retention_are_not_shown(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.converse(scope, "c1", 3, keep_days=1)
        old = [replace(one, created_at=NOW - timedelta(seconds=1)) for one in api_world.exchange("c1", 1, CLOCK)]
        backdrop.put_messages(scope, "c1", *old)
        found = subject.messages(scope, "c1", after=None, limit=9, newest_first=False).items
        assert [message.seq for message in found] == [3, 4, 5, 6]

    def test_a_question_is_found_by_its_id_and_by_its_answers(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.converse(scope, "c1", 2)
        pointer = MessagePointer("c1-2", "c1", 3, "f" * 64)
        assert subject.pointer(scope, "c1-2") == subject.pointer(scope, "c1-2.1") == pointer
        assert subject.pointer(scope, "c1-3") is None

    def test_ratings_are_stored_replaced_and_taken_back(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.converse(scope, "c1", 3)
        pointer = MessagePointer("c1-2", "c1", 3, "f" * 64)
        assert subject.rate(scope, pointer, None, "up")
        assert subject.messages(scope, "c1", after=3, limit=1, newest_first=False).items[0].rating == "up"
        assert subject.rate(scope, pointer, "c1-2.1", "down")
        assert subject.messages(scope, "c1", after=5, limit=2, newest_first=True).items[0].rating == "down"
        assert subject.rate(scope, pointer, None, None)
        assert subject.messages(scope, "c1", after=3, limit=1, newest_first=False).items[0].rating is None
        assert not subject.rate(scope, pointer, "c1-2.2", "up")

    def test_an_answers_context_is_found_by_both_ids(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.converse(scope, "c1", 2)
        answer = api_world.exchange("c1", 1, CLOCK)[1]
        pointer = subject.pointer(scope, answer.id)
        assert pointer is not None
        assert subject.context(scope, pointer, None) == context_of(answer)
        assert subject.context(scope, pointer, answer.id) == context_of(answer)
        assert subject.context(scope, pointer, "c1-1.2") is None

    def test_contexts_come_in_the_order_of_their_questions(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.converse(scope, "c1", MANY_TURNS)
        answers = [api_world.exchange("c1", number, CLOCK)[1] for number in range(1, MANY_TURNS + 1)]
        asked = [f"c1-{number}" for number in range(1, MANY_TURNS + 1)]
        assert list(subject.contexts(scope, [*asked, "absent"])) == [context_of(answer) for answer in answers]
        assert next(subject.contexts(scope, asked[::-1])).answer_id == answers[-1].id
        assert list(subject.contexts(visitor_scope(visitor=uuid4().hex), asked)) == []

    def test_the_newest_revision_answers_for_its_question(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.converse(scope, "c1", 1)
        answers: dict[int, tuple[int, AnswerContext | None]] = {one: (one + 1, None) for one in range(1, 12)}
        answer = replace(api_world.exchange("c1", 1, CLOCK)[1], id="c1-1.11", seq=12)
        answers[11] = (12, context_of(answer))
        pointer = MessagePointer("c1-1", "c1", 1, "f" * 64)
        backdrop.put_pointer(scope, pointer, answers)
        assert subject.context(scope, pointer, None) == context_of(answer)

    def test_the_contexts_of_one_question_come_in_the_order_of_its_answers(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.converse(scope, "c1", 1)
        answer = api_world.exchange("c1", 1, CLOCK)[1]
        made = {one: replace(answer, id=f"c1-1.{one}") for one in (10, 2, 1)}
        pointer = MessagePointer("c1-1", "c1", 1, "f" * 64)
        backdrop.put_pointer(scope, pointer, {one: (one + 1, context_of(made[one])) for one in made})
        assert [one.answer_id for one in subject.contexts(scope, ["c1-1"])] == ["c1-1.1", "c1-1.2", "c1-1.10"]

    def test_a_question_without_an_answer_has_nothing_to_rate(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        pointer = MessagePointer("q1", "c1", 1, "f" * 64)
        backdrop.put_pointer(scope, pointer, {})
        assert not subject.rate(scope, pointer, None, "up")
        assert subject.context(scope, pointer, None) is None
        assert list(subject.contexts(scope, ["q1"])) == []


def numbers(subject: ConversationStore, scope: Scope, limit: int, *, newest_first: bool = False) -> list[int]:
    """Return the numbers of all messages of `c1`, read page by page."""
    found, after = list[int](), None
    while True:
        page = subject.messages(scope, "c1", after=after, limit=limit, newest_first=newest_first)
        found += [message.seq for message in page.items]
        if page.next_key is None:
            return found
        assert len(page.items) == limit
        after = int(page.next_key)
