"""Conformance tests of every `CarryStore`: a summary is approved, and begins a conversation elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

import pytest

from fencepost.conversations.domain.messages import Conversation
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import FencepostError
from fencepost.lifecycle.ports import CarryStore
from fencepost.memory.ports import MemoryStore
from tests.conformance.backdrop import CLOCK, Backdrop
from tests.conformance.samples import namesake, summary, visitor_scope
from tests.worlds import api as api_world


def carried(name: str = "c2") -> Conversation:
    """Return a conversation that begins with a summary."""
    return replace(api_world.conversation(name, 0, CLOCK), carried_from="s4")


class CarryConformance:
    """The tests. A subclass provides `subject`, a `memory` over the same rows, its `backdrop`, and `broken`."""

    @pytest.fixture
    def scope(self) -> Scope:
        return visitor_scope(visitor=uuid4().hex)

    def test_the_named_summary_is_approved(
        self, subject: CarryStore, memory: MemoryStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        row = backdrop.begin(scope)
        memory.write_summary(scope, "c1", "i1", summary())
        assert subject.approve(scope, "c1", "s4")
        assert memory.summary(scope, "c1") == replace(summary(), approved=True)
        assert backdrop.conversation(scope, "c1") == replace(row, summarised_through=4)

    def test_no_other_missing_or_foreign_summary_is_approved(
        self, subject: CarryStore, memory: MemoryStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.begin(scope)
        assert not subject.approve(scope, "c1", "s4")
        memory.write_summary(scope, "c1", "i1", summary())
        assert not subject.approve(scope, "c1", "s6")
        assert not subject.approve(scope, "c9", "s4")
        for other in (visitor_scope(visitor=uuid4().hex), namesake(scope)):
            assert not subject.approve(other, "c1", "s4")
        assert memory.summary(scope, "c1") == summary()

    def test_a_conversation_begins_with_its_summary(
        self, subject: CarryStore, memory: MemoryStore, backdrop: Backdrop
    ) -> None:
        scope = backdrop.member_scope("zeta", uuid4().hex)
        assert subject.begin(scope, carried(), summary())
        assert backdrop.conversation(scope, "c2") == carried()
        assert memory.summary(scope, "c2") == summary()

    def test_a_visitor_begins_without_a_membership(
        self, subject: CarryStore, memory: MemoryStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        assert subject.begin(scope, carried(), summary())
        assert (backdrop.conversation(scope, "c2"), memory.summary(scope, "c2")) == (carried(), summary())

    @pytest.mark.parametrize(("active", "version"), [(True, 2), (False, 1)])
    def test_a_permission_that_changed_begins_nothing(
        self, subject: CarryStore, memory: MemoryStore, backdrop: Backdrop, version: int, *, active: bool
    ) -> None:
        user = uuid4().hex
        scope = backdrop.member_scope("zeta", user)
        backdrop.grant("zeta", user, active=active, version=version)
        assert not subject.begin(scope, carried(), summary())
        backdrop.remove_membership("zeta", user)
        assert not subject.begin(scope, carried(), summary())
        assert (backdrop.conversation(scope, "c2"), memory.summary(scope, "c2")) == (None, None)

    @pytest.mark.parametrize(
        "call",
        [
            lambda store, scope: store.approve(scope, "c1", "s4"),
            lambda store, scope: store.begin(scope, carried(), summary()),
        ],
    )
    def test_an_unreachable_store_raises_one_error(
        self, broken: CarryStore, backdrop: Backdrop, call: Callable[[CarryStore, Scope], object]
    ) -> None:
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            call(broken, backdrop.member_scope("zeta", uuid4().hex))
