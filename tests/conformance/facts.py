"""Conformance tests of every `MemoryStore`: facts are written all or none, and never after an erasure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count
from uuid import uuid4

import pytest

from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import Fact, FactState
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory.domain.facts import MAX_PINNED, MAX_WRITTEN, WantedFact, rewritten
from fencepost.memory.ports import MemoryStore
from tests.conformance.backdrop import Backdrop
from tests.conformance.samples import NOW, PINNED, PROPOSED, SUPERSEDED, adding, fact, job_for, visitor_scope

ROOMY = 100_000


class FactConformance:
    """The tests. A subclass provides the fixtures `subject` and its `backdrop`."""

    @pytest.fixture
    def scope(self) -> Scope:
        return visitor_scope(visitor=uuid4().hex)

    def test_facts_are_returned_as_written_by_state_and_age(self, subject: MemoryStore, scope: Scope) -> None:
        old, new = fact("b", "日本語。", age=60), fact("a", state=PROPOSED)
        gone = replace(fact("c"), state=SUPERSEDED, superseded_by="b")
        assert subject.write_facts(scope, [new, old, gone])
        assert subject.facts(scope, PINNED, PROPOSED) == (old, new)
        assert subject.facts(scope, SUPERSEDED) == (gone,)

    def test_a_fact_is_in_one_state_at_a_time(self, subject: MemoryStore, scope: Scope) -> None:
        for state in (PROPOSED, PINNED, SUPERSEDED, PINNED):
            subject.write_facts(scope, [fact("a", state=state)])
            assert subject.facts(scope, *FactState) == (fact("a", state=state),)

    def test_all_pinned_facts_can_be_replaced_at_once(self, subject: MemoryStore, scope: Scope) -> None:
        subject.write_facts(scope, [fact(f"old{number}", f"Old {number}.") for number in range(MAX_PINNED)])
        wanted = [WantedFact(f"New {number}.") for number in range(MAX_PINNED)]
        ids = (f"new{number}" for number in count())
        assert subject.change_facts(scope, lambda current: rewritten(current, wanted, ids, NOW, ROOMY))
        assert [len(subject.facts(scope, state)) for state in (PINNED, SUPERSEDED)] == [MAX_PINNED, MAX_PINNED]

    def test_more_facts_than_a_transaction_takes_are_refused(self, subject: MemoryStore, scope: Scope) -> None:
        with pytest.raises(ValueError, match="transaction"):
            subject.write_facts(scope, [fact(f"f{number}") for number in range(MAX_WRITTEN + 1)])
        assert subject.facts(scope, *FactState) == ()

    def test_a_change_that_raises_stores_nothing(self, subject: MemoryStore, scope: Scope) -> None:
        def refuse(_: Sequence[Fact]) -> Sequence[Fact]:
            raise FencepostError(ErrorCode.FACTS_TOO_LARGE)

        with pytest.raises(FencepostError, match="facts_too_large"):
            subject.change_facts(scope, refuse)
        assert subject.facts(scope, *FactState) == ()

    def test_a_change_is_given_pinned_and_proposed_facts_alone(self, subject: MemoryStore, scope: Scope) -> None:
        subject.write_facts(scope, [fact("a"), fact("b", state=PROPOSED, age=1), fact("c", state=SUPERSEDED)])
        given = list[str]()

        def record(current: Sequence[Fact]) -> Sequence[Fact]:
            given.extend(one.id for one in current)
            return []

        assert subject.change_facts(scope, record)
        assert given == ["b", "a"]

    def test_a_change_is_decided_again_when_another_writer_came_in_between(
        self, subject: MemoryStore, scope: Scope
    ) -> None:
        given = list[int]()

        def numbered(current: Sequence[Fact]) -> Sequence[Fact]:
            given.append(len(current))
            if len(given) == 1:
                assert subject.write_facts(scope, [fact("another")])
            return [fact(f"f{len(current)}")]

        assert subject.change_facts(scope, numbered)
        assert given == [0, 1]
        assert {one.id for one in subject.facts(scope, PINNED)} == {"another", "f1"}

    def test_a_deleted_fact_is_gone_from_every_state(self, subject: MemoryStore, scope: Scope) -> None:
        subject.write_facts(scope, [fact("a"), fact("b", state=SUPERSEDED)])
        assert [subject.delete_fact(scope, name) for name in ("a", "b", "b", "c")] == [True, True, False, False]
        assert subject.facts(scope, *FactState) == ()

    @pytest.mark.parametrize(("after", "written"), [(-1, True), (0, False), (1, False)])
    def test_a_job_writes_nothing_after_its_owner_was_erased(
        self, subject: MemoryStore, backdrop: Backdrop, scope: Scope, after: int, written: bool
    ) -> None:
        backdrop.begin(scope)
        backdrop.erase_owner(scope, NOW + timedelta(microseconds=after))
        assert subject.write_facts(scope, [fact("a")], made_at=NOW) == written
        assert subject.change_facts(scope, adding(fact("b")), job=job_for(scope)) == written
        assert len(subject.facts(scope, PINNED)) == 2 * written

    def test_a_job_that_changes_nothing_is_told_of_an_erasure_as_well(
        self, subject: MemoryStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.begin(scope)
        backdrop.erase_owner(scope, NOW)
        assert not subject.change_facts(scope, adding(), job=job_for(scope))
        assert not subject.write_facts(scope, [], made_at=NOW)

    def test_an_owner_writes_after_an_erasure(self, subject: MemoryStore, backdrop: Backdrop, scope: Scope) -> None:
        backdrop.erase_owner(scope, NOW)
        assert subject.write_facts(scope, [fact("a")])
        assert subject.change_facts(scope, adding(fact("b")))
        assert subject.facts(scope, PINNED) == (fact("a"), fact("b"))

    @pytest.mark.parametrize(("conversation", "incarnation"), [("c1", "i2"), ("c9", "i1")])
    def test_a_job_writes_nothing_once_its_conversation_is_gone_or_another_one(
        self, subject: MemoryStore, backdrop: Backdrop, scope: Scope, conversation: str, incarnation: str
    ) -> None:
        backdrop.begin(scope)
        late = job_for(scope, conversation=conversation, incarnation=incarnation)
        assert not subject.change_facts(scope, adding(fact("a")), job=late)
        assert subject.facts(scope, *FactState) == ()
