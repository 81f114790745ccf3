"""Conformance tests of every `MemoryStore`: summaries and titles; facts are in `tests.conformance.facts`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

import pytest

from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import FactState
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory.ports import MemoryStore
from tests.conformance.backdrop import Backdrop
from tests.conformance.samples import PINNED, adding, fact, namesake, summary, visitor_scope


class MemoryConformance:
    """The tests. A subclass provides the fixtures `subject`, its `backdrop`, and a `broken` store."""

    @pytest.fixture
    def scope(self) -> Scope:
        return visitor_scope(visitor=uuid4().hex)

    def test_a_summary_is_returned_as_written_and_noted_in_the_conversation(
        self, subject: MemoryStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        row = backdrop.begin(scope)
        assert subject.summary(scope, "c1") is None
        assert subject.write_summary(scope, "c1", "i1", summary())
        assert subject.summary(scope, "c1") == summary()
        assert backdrop.conversation(scope, "c1") == replace(row, summarised_through=4)

    @pytest.mark.parametrize(("conversation", "incarnation"), [("c1", "i2"), ("c9", "i1")])
    def test_no_summary_is_written_to_another_conversation(
        self, subject: MemoryStore, backdrop: Backdrop, scope: Scope, conversation: str, incarnation: str
    ) -> None:
        backdrop.begin(scope)
        assert not subject.write_summary(scope, conversation, incarnation, summary())
        assert subject.summary(scope, conversation) is None
        assert backdrop.conversation(scope, "c9") is None

    def test_a_late_worker_does_not_replace_a_longer_summary_with_a_shorter_one(
        self, subject: MemoryStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.begin(scope)
        assert subject.write_summary(scope, "c1", "i1", summary(6))
        assert not subject.write_summary(scope, "c1", "i1", summary(4))
        assert subject.write_summary(scope, "c1", "i1", summary(6, "Approved."))
        assert subject.summary(scope, "c1") == summary(6, "Approved.")

    def test_a_dropped_summary_can_be_made_again_from_the_beginning(
        self, subject: MemoryStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        row = backdrop.begin(scope)
        subject.write_summary(scope, "c1", "i1", summary(6))
        subject.drop_summary(scope, "c1")
        assert subject.summary(scope, "c1") is None
        assert backdrop.conversation(scope, "c1") == row
        assert subject.write_summary(scope, "c1", "i1", summary(4))

    @pytest.mark.parametrize("last", [0, 2])
    def test_the_remaining_part_of_a_dropped_summary_replaces_it(
        self, subject: MemoryStore, backdrop: Backdrop, scope: Scope, last: int
    ) -> None:
        row = backdrop.begin(scope)
        subject.write_summary(scope, "c1", "i1", summary(6))
        remaining = replace(summary(6, "Carried over."), last_seq=last)
        subject.drop_summary(scope, "c1", remaining)
        assert subject.summary(scope, "c1") == remaining
        assert backdrop.conversation(scope, "c1") == replace(row, summarised_through=last)
        assert subject.write_summary(scope, "c1", "i1", summary(4))

    def test_a_remaining_part_replaces_no_other_summary_and_is_not_written_without_one(
        self, subject: MemoryStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        remaining = replace(summary(6, "Carried over."), last_seq=0)
        subject.drop_summary(scope, "c1", remaining)
        row = backdrop.begin(scope)
        subject.drop_summary(scope, "c1", remaining)
        assert subject.summary(scope, "c1") is None
        subject.write_summary(scope, "c1", "i1", summary(8))
        subject.drop_summary(scope, "c1", remaining)
        assert subject.summary(scope, "c1") == summary(8)
        assert backdrop.conversation(scope, "c1") == replace(row, summarised_through=8)

    def test_dropping_a_summary_of_an_erased_conversation_restores_nothing(
        self, subject: MemoryStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        subject.drop_summary(scope, "c1")
        assert backdrop.conversation(scope, "c1") is None

    def test_a_title_is_given_once_and_to_the_right_conversation(
        self, subject: MemoryStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        row = backdrop.begin(scope)
        attempts = [("c1", "i2"), ("c9", "i1"), ("c1", "i1"), ("c1", "i1")]
        given = [subject.name_conversation(scope, *where, "A title") for where in attempts]
        assert given == [False, False, True, False]
        assert backdrop.conversation(scope, "c1") == replace(row, title="A title")
        assert backdrop.conversation(scope, "c9") is None

    def test_another_owner_or_organisation_sees_and_changes_nothing(
        self, subject: MemoryStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.begin(scope)
        subject.write_facts(scope, [fact("a")])
        subject.write_summary(scope, "c1", "i1", summary())
        for other in (visitor_scope(visitor="x"), namesake(scope)):
            assert subject.facts(other, *FactState) == ()
            assert subject.summary(other, "c1") is None
            assert not subject.delete_fact(other, "a")
            assert not subject.write_summary(other, "c1", "i1", summary(6))
            assert not subject.name_conversation(other, "c1", "i1", "A title")
            subject.drop_summary(other, "c1")
        assert subject.facts(scope, PINNED) == (fact("a"),)
        assert subject.summary(scope, "c1") == summary()

    @pytest.mark.parametrize(
        "call",
        [
            lambda store, scope: store.facts(scope, PINNED),
            lambda store, scope: store.write_facts(scope, [fact("a")]),
            lambda store, scope: store.change_facts(scope, adding(fact("a"))),
            lambda store, scope: store.delete_fact(scope, "a"),
            lambda store, scope: store.summary(scope, "c1"),
            lambda store, scope: store.write_summary(scope, "c1", "i1", summary()),
            lambda store, scope: store.drop_summary(scope, "c1"),
            lambda store, scope: store.name_conversation(scope, "c1", "i1", "A title"),
        ],
    )
    def test_an_unreachable_store_raises_one_error(
        self, broken: MemoryStore, scope: Scope, call: Callable[[MemoryStore, Scope], object]
    ) -> None:
        with pytest.raises(FencepostError) as raised:
            call(broken, scope)
        assert raised.value.code is ErrorCode.CONVERSATIONS_UNAVAILABLE
        assert "no-such-table" not in repr(raised.value)
