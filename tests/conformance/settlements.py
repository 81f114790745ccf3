"""Conformance tests of every `TurnStore`: how a turn ends, stored once by its holder or not at all."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from fencepost.conversations.domain.messages import Message, MessagePointer, MessageStatus
from fencepost.identity.domain.scope import Scope
from fencepost.turns.domain.turns import LEASE, SettleRefused, fingerprint
from fencepost.turns.ports import TurnStore
from tests.conformance.backdrop import Backdrop
from tests.conformance.samples import NOW, visitor_scope
from tests.conformance.turn_claims import LATER, beginning, claiming, loaded, settling, turn

POINTER = MessagePointer("m1", "c1", 1, fingerprint("Hello"))


class SettlementConformance:
    """The tests. A subclass provides the fixtures `subject` and its `backdrop`."""

    @pytest.fixture
    def scope(self) -> Scope:
        return visitor_scope(visitor=uuid4().hex)

    def test_a_released_turn_is_over_and_its_question_stays(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        subject.claim(scope, beginning())
        subject.release(scope, "c1", "another", LATER)
        refused = subject.claim(scope, claiming("m2", holder="h2"))
        assert refused is not None
        assert refused.conversation is not None
        assert refused.conversation.open_turn is not None
        assert refused.conversation.open_turn.until == NOW + LEASE
        subject.release(scope, "c1", "h1", NOW)
        row = backdrop.conversation(scope, "c1")
        assert row is not None
        assert row.open_turn is not None
        assert row.open_turn.until == NOW

    def test_a_dead_turns_question_is_parked_and_answered_later(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        subject.claim(scope, beginning(text="First"))
        row = loaded(subject, scope).conversation
        assert subject.park(scope, row, LATER)
        assert not subject.park(scope, row, LATER)
        parked = [(one.seq, one.content, one.status) for one in backdrop.messages(scope, "c1")]
        assert parked == [(1, "First", MessageStatus.PENDING)]
        turn(subject, scope, claiming("m2", holder="h2"))
        again = replace(claiming(holder="h3", text="First"), answers_seq=1)
        assert subject.claim(scope, again) is None
        settlement = settling(subject, scope, again)
        assert subject.settle(scope, settlement) is None
        numbers = [(one.seq, one.id, one.reply_to, one.status) for one in backdrop.messages(scope, "c1")]
        assert numbers == [
            (1, "m1", None, MessageStatus.ANSWERED),
            (2, "m2", None, MessageStatus.ANSWERED),
            (3, "m2.1", 2, MessageStatus.COMPLETE),
            (4, "m1.1", 1, MessageStatus.COMPLETE),
        ]

    def test_a_question_without_an_answer_has_no_stored_one(self, subject: TurnStore, scope: Scope) -> None:
        subject.claim(scope, beginning())
        assert subject.stored_answer(scope, POINTER) is None
        assert subject.stored_answer(scope, POINTER, "k1") is None

    def test_parking_a_regeneration_frees_the_lease_alone(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        turn(subject, scope, beginning())
        before = backdrop.conversation(scope, "c1")
        assert subject.claim(scope, replace(claiming(holder="h2"), answers_seq=1, regenerates=2)) is None
        assert subject.park(scope, loaded(subject, scope).conversation, LATER)
        assert backdrop.conversation(scope, "c1") == before
        assert [one.seq for one in backdrop.messages(scope, "c1")] == [1, 2]

    def test_a_turn_that_lost_the_lease_stores_nothing(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        subject.claim(scope, beginning())
        late = settling(subject, scope, claiming())
        assert subject.claim(scope, replace(claiming(holder="h2"), resumes="h1")) is None
        assert subject.settle(scope, late) == SettleRefused()
        assert backdrop.messages(scope, "c1") == []
        assert subject.settle(scope, settling(subject, scope, claiming(holder="h2"))) is None

    def test_a_settlement_stored_twice_changes_nothing(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        settlement = turn(subject, scope, beginning())
        row = backdrop.conversation(scope, "c1")
        assert subject.settle(scope, settlement) is None
        assert backdrop.conversation(scope, "c1") == row
        assert [one.seq for one in backdrop.messages(scope, "c1")] == [1, 2]

    def test_an_erased_conversation_does_not_come_back(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        subject.claim(scope, beginning())
        late = settling(subject, scope, claiming())
        backdrop.remove_conversation(scope, "c1")
        assert subject.settle(scope, late) == SettleRefused(gone=True)
        subject.release(scope, "c1", "h1", LATER)
        assert not subject.park(scope, late.conversation, LATER)
        assert backdrop.conversation(scope, "c1") is None
        assert backdrop.messages(scope, "c1") == []

    def test_another_conversation_under_the_same_id_is_not_written(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        subject.claim(scope, beginning())
        late = settling(subject, scope, claiming())
        backdrop.put_conversation(scope, replace(late.conversation, incarnation="i2", open_turn=None))
        assert subject.settle(scope, late) == SettleRefused(gone=True)
        assert backdrop.messages(scope, "c1") == []

    def test_a_former_member_stores_nothing(self, subject: TurnStore, backdrop: Backdrop) -> None:
        user = uuid4().hex
        scope = backdrop.member_scope(user=user)
        subject.claim(scope, beginning())
        late = settling(subject, scope, claiming())
        ended = backdrop.grant("acme", user, active=False, version=2)
        assert subject.settle(scope, late) == SettleRefused(membership_ended=True, membership=ended)
        backdrop.remove_membership("acme", user)
        assert subject.settle(scope, late) == SettleRefused(membership_ended=True)
        assert backdrop.messages(scope, "c1") == []
        row = backdrop.conversation(scope, "c1")
        assert row is not None
        assert row.open_turn is not None
        # A membership that only changed is one still: an answer that was paid is not thrown away for that.
        backdrop.grant("acme", user, version=3)
        assert subject.settle(scope, late) is None

    def test_a_settlement_stays_after_its_membership_ended(self, subject: TurnStore, backdrop: Backdrop) -> None:
        user = uuid4().hex
        scope = backdrop.member_scope(user=user)
        settlement = turn(subject, scope, beginning())
        backdrop.grant("acme", user, active=False, version=2)
        assert subject.settle(scope, settlement) is None

    def test_a_regenerated_answer_supersedes_the_one_before(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        first = turn(subject, scope, beginning())
        again = replace(claiming(holder="h2"), answers_seq=1, regenerates=2)
        assert subject.claim(scope, again) is None
        second = replace(settling(subject, scope, again, "No."), supersedes=first.answer.seq)
        assert subject.settle(scope, second) is None
        statuses = [one.status for one in backdrop.messages(scope, "c1")]
        assert statuses == [MessageStatus.ANSWERED, MessageStatus.SUPERSEDED, MessageStatus.COMPLETE]
        assert subject.stored_answer(scope, POINTER) == second.answer
        assert [one.id for one in loaded(subject, scope).recent] == ["m1", "m1.2"]
        refused = subject.claim(scope, replace(again, holder="h3"))
        assert refused is not None
        assert refused.pointer == POINTER

    def test_one_answer_is_regenerated_for_each_key(self, subject: TurnStore, scope: Scope) -> None:
        turn(subject, scope, beginning())
        made = dict[str, Message]()
        for revision, key in ((2, "k1"), (3, "k2")):
            again = replace(claiming(holder=f"h{revision}"), answers_seq=1, regenerates=revision, key=key)
            assert subject.claim(scope, again) is None
            open_turn = loaded(subject, scope).conversation.open_turn
            assert open_turn is not None
            assert open_turn.key == key
            settlement = replace(settling(subject, scope, again), supersedes=revision, key=open_turn.key)
            assert subject.settle(scope, settlement) is None
            made[key] = settlement.answer
        superseded = replace(made["k1"], status=MessageStatus.SUPERSEDED)
        answers = [subject.stored_answer(scope, POINTER, key) for key in ("k1", "k2", "k3")]
        assert answers == [superseded, made["k2"], None]
        refused = subject.claim(scope, replace(claiming(holder="h4"), answers_seq=1, regenerates=4, key="k1"))
        assert refused is not None
        assert (refused.pointer, refused.conversation) == (POINTER, None)
        fourth = replace(claiming(holder="h5"), answers_seq=1, regenerates=4, key="k3")
        assert subject.claim(scope, fourth) is None

    def test_a_turn_that_resumes_a_dead_one_keeps_its_key(self, subject: TurnStore, scope: Scope) -> None:
        turn(subject, scope, beginning())
        again = replace(claiming(holder="h2"), answers_seq=1, regenerates=2, key="k1")
        assert subject.claim(scope, again) is None
        assert subject.claim(scope, replace(again, holder="h3", resumes="h2", key=None)) is None
        open_turn = loaded(subject, scope).conversation.open_turn
        assert open_turn is not None
        assert (open_turn.holder, open_turn.key) == ("h3", "k1")
