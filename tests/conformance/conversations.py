"""Conformance tests of every `ConversationStore`: conversations, their list and their titles.

Messages, ratings and contexts are in `tests.conformance.messages`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from fencepost.conversations.domain.messages import MessagePointer
from fencepost.conversations.ports import ConversationStore
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import FencepostError
from tests.conformance.backdrop import Backdrop
from tests.conformance.samples import NOW, namesake, visitor_scope


class ConversationConformance:
    """The tests. A subclass provides `subject`, whose clock returns `READ_AT`, its `backdrop`, and a `broken` store."""

    @pytest.fixture
    def scope(self) -> Scope:
        return visitor_scope(visitor=uuid4().hex)

    def test_a_conversation_is_returned_whole_and_to_its_owner_alone(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        row = backdrop.converse(scope, "c1", 1, title="Rain")
        assert subject.get(scope, "c1") == row
        pointer = MessagePointer("c1-1", "c1", 1, "f" * 64)
        for stranger in (visitor_scope(visitor=uuid4().hex), namesake(scope), backdrop.member_scope()):
            assert subject.get(stranger, "c1") is None
            assert subject.newest(stranger, after=None, limit=9).items == ()
            assert subject.messages(stranger, "c1", after=None, limit=9, newest_first=False).items == ()
            assert subject.rename(stranger, "c1", "Mine", NOW) is None
            assert subject.pointer(stranger, "c1-1") is None
            assert not subject.rate(stranger, pointer, None, "up")
            assert subject.context(stranger, pointer, None) is None
        assert subject.get(scope, "c1") == row

    @pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 8])
    def test_the_last_changed_conversation_is_listed_first(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope, limit: int
    ) -> None:
        for number in range(7):
            backdrop.converse(scope, f"c{number}", 0, updated_at=NOW + timedelta(microseconds=number))
        found = listed(subject, scope, limit)
        assert [name for page in found for name in page] == [f"c{number}" for number in range(6, -1, -1)]
        assert all(len(page) == limit for page in found[:-1])
        assert found[-1]

    def test_conversations_changed_at_the_same_moment_are_all_listed(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        names = [f"c{number}" for number in range(5)]
        for name in names:
            backdrop.converse(scope, name, 0)
        assert sorted(name for page in listed(subject, scope, 2) for name in page) == names

    def test_a_list_goes_on_where_a_conversation_was_removed(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        for number in range(3):
            backdrop.converse(scope, f"c{number}", 0, updated_at=NOW + timedelta(seconds=number))
        page = subject.newest(scope, after=None, limit=1)
        backdrop.remove_conversation(scope, "c2")
        assert subject.messages(scope, "c2", after=None, limit=9, newest_first=False).items == ()
        rest = subject.newest(scope, after=page.next_key, limit=9)
        assert [row.id for row in rest.items] == ["c1", "c0"]

    def test_a_conversation_past_its_retention_is_not_shown(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.converse(scope, "c1", 1, keep_days=1, updated_at=NOW - timedelta(seconds=1))
        kept = backdrop.converse(scope, "c2", 1, keep_days=1)
        assert subject.get(scope, "c1") is None
        assert subject.get(scope, "c2") == kept
        assert listed(subject, scope, 9) == [["c2"]]

    def test_titles_are_compared_case_folded(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        for number, title in enumerate(["Größe", "GRÖSSE", "größte", "日本語のタイトル"]):
            backdrop.converse(scope, f"c{number}", 0, title=title, updated_at=NOW + timedelta(seconds=number))
        assert listed(subject, scope, 9, "grösse") == [["c1", "c0"]]
        assert listed(subject, scope, 1, "grösse") == [["c1"], ["c0"]]
        assert listed(subject, scope, 9, "日本") == [["c3"]]

    def test_a_renamed_conversation_moves_to_the_top_and_keeps_its_other_fields(
        self, subject: ConversationStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        row = backdrop.converse(scope, "c1", 1)
        backdrop.converse(scope, "c2", 1, updated_at=NOW + timedelta(seconds=1))
        later = NOW + timedelta(seconds=2)
        renamed = replace(row, title="New", updated_at=later)
        assert subject.rename(scope, "c1", "New", later) == renamed
        assert subject.get(scope, "c1") == renamed
        assert listed(subject, scope, 9) == [["c1", "c2"]]
        assert subject.rename(scope, "absent", "New", later) is None
        assert subject.get(scope, "absent") is None

    @pytest.mark.parametrize(
        "call",
        [
            lambda store, scope, _: store.get(scope, "c1"),
            lambda store, scope, _: store.newest(scope, after=None, limit=1),
            lambda store, scope, _: store.rename(scope, "c1", "New", NOW),
            lambda store, scope, _: store.messages(scope, "c1", after=None, limit=1, newest_first=True),
            lambda store, scope, _: store.pointer(scope, "q1"),
            lambda store, scope, pointer: store.rate(scope, pointer, None, "up"),
            lambda store, scope, pointer: store.context(scope, pointer, None),
            lambda store, scope, _: list(store.contexts(scope, ["q1"])),
        ],
    )
    def test_an_unreachable_store_raises_one_error(
        self,
        broken: ConversationStore,
        scope: Scope,
        call: Callable[[ConversationStore, Scope, MessagePointer], object],
    ) -> None:
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            call(broken, scope, MessagePointer("q1", "c1", 1, "f" * 64))


def listed(subject: ConversationStore, scope: Scope, limit: int, title: str = "") -> list[list[str]]:
    """Return the ids of all conversations, page by page."""
    pages, after = list[list[str]](), None
    while True:
        page = subject.newest(scope, after=after, limit=limit, title_contains=title)
        pages.append([row.id for row in page.items])
        if page.next_key is None:
            return pages
        after = page.next_key
