"""Conformance tests of every `MessageChunkStore`, `RememberedConversations` and `MessageHits` over the same rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

import pytest

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import FencepostError
from fencepost.memory.domain.chunk_rows import MessageChunkRow
from fencepost.memory.ports import HitRows, MessageChunkStore, MessageHits, RememberedConversations
from tests.conformance.backdrop import CLOCK, Backdrop
from tests.conformance.samples import namesake, visitor_scope
from tests.fakes.corpus import operator
from tests.worlds import api as api_world

MANY = 199
"""More rows than two transactions hold."""


def row(seq: int, number: int = 0, **fields: object) -> MessageChunkRow:
    """Return the row of a message chunk."""
    known: dict[str, object] = {
        "message": f"q{seq}",
        "seq": seq,
        "number": number,
        "start": 0,
        "end": 9,
        "passage": "0" * 64,
        "model": "m",
        "version": 7,
        "stored_id": f"s{seq}",
        "vector": (0.5, -0.25, 0.0, 1.0),
    }
    return MessageChunkRow(**(known | fields))  # type: ignore[arg-type]  # fields by name


class PartConformance:
    """The tests. A subclass provides `subject`, `hits`, `remembered` and `backdrop`, and `broken` ones of the former.

    Its `remember` begins the work that makes a conversation one with parts in the index.
    """

    @pytest.fixture
    def scope(self) -> Scope:
        return visitor_scope(f"org-{uuid4().hex}")

    def test_rows_are_returned_as_written_in_their_order(
        self, subject: MessageChunkStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        conversation = backdrop.begin(scope)
        rows = [row(1), row(2), row(2, 1, stale_id="old"), row(2, 11), row(10), row(100, version=2**28 - 1)]
        assert subject.put_chunks(scope, conversation, rows[::-1])
        assert subject.chunks(scope, "c1") == tuple(rows)
        assert subject.chunks(scope, "c1", first=2, last=2) == tuple(rows[1:4])
        assert subject.chunks(scope, "c1", first=3) == tuple(rows[4:])
        assert subject.chunks(scope, "c1", last=10) == tuple(rows[:5])
        subject.drop_chunks(scope, "c1", rows[1:3])
        assert subject.chunks(scope, "c1") == (rows[0], *rows[3:])

    def test_any_number_of_rows_is_written(self, subject: MessageChunkStore, backdrop: Backdrop, scope: Scope) -> None:
        conversation, rows = backdrop.begin(scope), [row(seq) for seq in range(1, MANY + 1)]
        assert subject.put_chunks(scope, conversation, rows)
        assert subject.chunks(scope, "c1") == tuple(rows)

    def test_another_owner_or_organisation_finds_and_removes_nothing(
        self, subject: MessageChunkStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        assert subject.put_chunks(scope, backdrop.begin(scope), [row(1)])
        for other in (visitor_scope(scope.org, "x"), namesake(scope)):
            assert subject.chunks(other, "c1") == ()
            subject.drop_chunks(other, "c1", [row(1)])
        assert subject.chunks(scope, "c1") == (row(1),)

    @pytest.mark.parametrize("changes", [{"incarnation": "i2"}, {"id": "c9"}])
    def test_nothing_is_written_for_a_conversation_that_is_gone(
        self, subject: MessageChunkStore, backdrop: Backdrop, scope: Scope, changes: dict[str, str]
    ) -> None:
        conversation = replace(backdrop.begin(scope), **changes)  # type: ignore[arg-type]  # fields by name
        assert not subject.put_chunks(scope, conversation, [row(1)])
        assert subject.chunks(scope, conversation.id) == ()

    def test_messages_that_retention_hid_get_no_rows(
        self, subject: MessageChunkStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        before = backdrop.begin(scope)
        backdrop.begin(scope, kept_from=3)
        assert not subject.put_chunks(scope, before, [row(4), row(2)])
        assert row(2) not in subject.chunks(scope, "c1")
        assert subject.put_chunks(scope, before, [row(3), row(4)])
        assert subject.chunks(scope, "c1") == (row(3), row(4))

    def test_remembered_conversations_are_listed_by_organisation(
        self, remembered: RememberedConversations, remember: Callable[[Scope, str], None], scope: Scope
    ) -> None:
        remember(visitor_scope(scope.org, "v1"), "c1")
        remember(visitor_scope(scope.org, "v/2#"), "c#2")
        remember(namesake(scope, f"{scope.org}-2"), "c1")
        asking = operator(scope.org)
        first = remembered.conversations(asking, after=None, limit=1)
        rest = remembered.conversations(asking, after=first.next_key, limit=5)
        assert {*first.items, *rest.items} == {("visitor:v1", "c1"), ("visitor:v/2#", "c#2")}
        assert (len(first.items), len(rest.items), rest.next_key) == (1, 1, None)
        assert remembered.conversations(operator("nobody"), after=None, limit=5).items == ()

    def test_hits_lead_to_conversations_messages_and_parts(
        self, subject: MessageChunkStore, hits: MessageHits, backdrop: Backdrop, scope: Scope
    ) -> None:
        conversation = backdrop.converse(scope, "c1", 60)
        question, answer = api_world.exchange("c1", 1, CLOCK)
        assert subject.put_chunks(scope, conversation, [row(1)])
        wanted = [("c1", 1, 0), ("c1", 2, 0), ("c1", 999, 0), ("c1", 1, 0), ("gone", 1, 0)]
        assert hits.hydrate(scope, wanted) == HitRows(
            conversations={"c1": conversation},
            messages={("c1", 1): question, ("c1", 2): answer},
            apart=frozenset(),
            chunks={("c1", 1, 0): replace(row(1), vector=())},
        )
        assert len(hits.hydrate(scope, [("c1", seq, 0) for seq in range(1, 121)]).messages) == 120

    def test_hits_lead_to_nothing_of_another_owner_or_organisation(
        self, subject: MessageChunkStore, hits: MessageHits, backdrop: Backdrop, scope: Scope
    ) -> None:
        assert subject.put_chunks(scope, backdrop.converse(scope, "c1", 1), [row(1)])
        nothing = HitRows(conversations={}, messages={}, apart=frozenset(), chunks={})
        for other in (visitor_scope(scope.org, "x"), namesake(scope)):
            assert hits.hydrate(other, [("c1", 1, 0)]) == nothing

    @pytest.mark.parametrize(
        "call",
        [
            lambda store, scope, _: store.chunks(scope, "c1"),
            lambda store, scope, conversation: store.put_chunks(scope, conversation, [row(1)]),
            lambda store, scope, _: store.drop_chunks(scope, "c1", [row(1)]),
        ],
    )
    def test_an_unreachable_store_raises_one_error(
        self, broken: MessageChunkStore, scope: Scope, call: Callable[[MessageChunkStore, Scope, object], object]
    ) -> None:
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            call(broken, scope, api_world.conversation("c1", 1, CLOCK))

    def test_unreachable_hits_raise_the_same_error(self, broken_hits: MessageHits, scope: Scope) -> None:
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            broken_hits.hydrate(scope, [("c1", 1, 0)])

    def test_an_unreachable_list_raises_the_same_error(self, broken_remembered: RememberedConversations) -> None:
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            broken_remembered.conversations(operator(), after=None, limit=1)
