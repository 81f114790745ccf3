"""Conformance tests of every `TurnStore`: how a turn claims its conversation, and which rows are loaded for it.

How it ends is in `tests.conformance.settlements`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from fencepost.conversations.domain.attachments import MOST_CONVERSATIONS
from fencepost.conversations.domain.messages import MessagePointer, MessageStatus
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.turns.domain.turns import ClaimRefused, SettleRefused, fingerprint
from fencepost.turns.ports import TurnStore
from tests.conformance.backdrop import Backdrop
from tests.conformance.samples import NOW, PROPOSED, fact, namesake, summary, visitor_scope
from tests.conformance.turn_claims import LATER, beginning, claiming, loaded, settling, turn


class TurnConformance:
    """The tests. A subclass provides `subject`, whose clock returns `READ_AT`, its `backdrop`, and a `broken` store."""

    @pytest.fixture
    def scope(self) -> Scope:
        return visitor_scope(visitor=uuid4().hex)

    def test_a_turn_is_claimed_loaded_and_settled(self, subject: TurnStore, backdrop: Backdrop, scope: Scope) -> None:
        assert subject.claim(scope, beginning()) is None
        material = loaded(subject, scope)
        assert material.recent == ()
        assert material.membership is None
        assert material.conversation.open_turn is not None
        assert (material.conversation.open_turn.seq, material.conversation.next_seq) == (1, 1)
        assert backdrop.messages(scope, "c1") == []
        settlement = settling(subject, scope, claiming())
        assert subject.settle(scope, settlement) is None
        assert backdrop.messages(scope, "c1") == [settlement.question, settlement.answer]
        row = backdrop.conversation(scope, "c1")
        assert row is not None
        assert (row.next_seq, row.open_turn, row.updated_at) == (3, None, LATER)

    def test_the_next_turn_loads_the_one_before(self, subject: TurnStore, scope: Scope) -> None:
        first = turn(subject, scope, beginning())
        assert subject.claim(scope, claiming("m2", holder="h2")) is None
        material = loaded(subject, scope)
        assert material.recent == (first.question, first.answer)
        assert material.conversation.open_turn is not None
        assert material.conversation.open_turn.seq == 3

    def test_only_the_newest_messages_are_loaded(self, subject: TurnStore, scope: Scope) -> None:
        turn(subject, scope, beginning())
        for number in range(2, 7):
            turn(subject, scope, claiming(f"m{number}", holder=f"h{number}"))
        assert [message.seq for message in loaded(subject, scope, limit=4).recent] == [7, 8, 9, 10, 11, 12]

    def test_superseded_answers_do_not_displace_settled_messages(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        row = backdrop.converse(scope, "c1", 6)
        for message in backdrop.messages(scope, "c1")[1::2]:
            again = replace(message, id=f"{message.id}0", seq=message.seq + 20, status=MessageStatus.SUPERSEDED)
            backdrop.put_messages(scope, "c1", again)
        backdrop.put_conversation(scope, replace(row, next_seq=33))
        assert [message.seq for message in loaded(subject, scope, limit=4).recent] == [7, 8, 9, 10, 11, 12]

    def test_pending_questions_do_not_displace_settled_messages(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        row = backdrop.converse(scope, "c1", 3)
        question = backdrop.messages(scope, "c1")[0]
        for seq in range(7, 15):
            parked = replace(question, id=f"p{seq}", seq=seq, status=MessageStatus.PENDING)
            backdrop.put_messages(scope, "c1", parked)
        backdrop.put_conversation(scope, replace(row, next_seq=15))
        recent = loaded(subject, scope, limit=4).recent
        settled = [message.seq for message in recent if message.status is not MessageStatus.PENDING]
        assert settled == [1, 2, 3, 4, 5, 6]

    def test_messages_below_kept_from_are_not_loaded(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.converse(scope, "c1", 3, kept_from=4)
        assert [message.seq for message in loaded(subject, scope).recent] == [4, 5, 6]

    def test_messages_past_their_retention_are_not_loaded(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        backdrop.converse(scope, "c1", 3, keep_days=1)
        old = [replace(one, created_at=NOW - timedelta(seconds=1)) for one in backdrop.messages(scope, "c1")[:2]]
        backdrop.put_messages(scope, "c1", *old)
        assert [message.seq for message in loaded(subject, scope).recent] == [3, 4, 5, 6]

    def test_the_summary_and_the_owners_pinned_facts_are_loaded(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        turn(subject, scope, beginning())
        backdrop.put_summary(scope, "c1", summary())
        older = fact("f0", age=60)
        backdrop.put_facts(scope, fact("f1"), fact("f2", "Perhaps.", state=PROPOSED), older)
        backdrop.put_facts(visitor_scope(visitor=uuid4().hex), fact("f3", "Foreign."))
        material = loaded(subject, scope)
        assert material.summary == summary()
        assert material.facts == (older, fact("f1"))

    def test_a_claim_repeated_by_its_holder_succeeds(self, subject: TurnStore, scope: Scope) -> None:
        assert subject.claim(scope, beginning()) is None
        assert subject.claim(scope, beginning()) is None
        assert subject.settle(scope, settling(subject, scope, claiming())) is None
        assert subject.claim(scope, claiming("m2", holder="h2")) is None
        assert subject.claim(scope, claiming("m2", holder="h2")) is None

    def test_a_second_turn_is_told_who_holds_the_conversation(self, subject: TurnStore, scope: Scope) -> None:
        subject.claim(scope, beginning())
        refused = subject.claim(scope, claiming("m2", holder="h2"))
        assert refused is not None
        assert refused.pointer is None
        assert refused.conversation is not None
        assert refused.conversation.open_turn is not None
        assert refused.conversation.open_turn.holder == "h1"
        assert refused.conversation.open_turn.seq == 1

    def test_a_turn_that_begins_a_conversation_that_is_there_is_refused(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        turn(subject, scope, beginning())
        stored = backdrop.conversation(scope, "c1")
        refused = subject.claim(scope, beginning("m2", holder="h2"))
        assert refused == ClaimRefused(conversation=stored)
        assert backdrop.conversation(scope, "c1") == stored

    def test_a_known_message_is_refused_with_its_place(self, subject: TurnStore, scope: Scope) -> None:
        settlement = turn(subject, scope, beginning())
        refused = subject.claim(scope, beginning(holder="h2", conversation="c2"))
        assert refused is not None
        assert refused.pointer == MessagePointer("m1", "c1", 1, fingerprint("Hello"))
        assert subject.stored_answer(scope, refused.pointer) == settlement.answer

    @pytest.mark.parametrize("absent", ["c9", "../c1", "c1#", ""])
    def test_a_missing_conversation_is_gone(self, subject: TurnStore, scope: Scope, absent: str) -> None:
        turn(subject, scope, beginning())
        refused = subject.claim(scope, claiming("m2", conversation=absent))
        assert refused is not None
        assert refused.gone
        assert subject.load(scope, absent, 40) is None

    def test_a_conversation_past_its_sites_retention_is_gone(self, subject: TurnStore, scope: Scope) -> None:
        turn(subject, scope, beginning())
        late = replace(claiming("m2", holder="h2"), keep_days=1, now=NOW + timedelta(days=9))
        assert subject.claim(scope, late) == ClaimRefused(gone=True)

    @pytest.mark.parametrize("elsewhere", [False, True], ids=["another owner", "another organisation"])
    def test_a_foreign_conversation_is_refused_like_a_missing_one(
        self, subject: TurnStore, scope: Scope, *, elsewhere: bool
    ) -> None:
        settlement = turn(subject, scope, beginning())
        foreign = namesake(scope) if elsewhere else visitor_scope(visitor=uuid4().hex)
        known = subject.claim(foreign, claiming("m2", conversation="c1"))
        assert known == subject.claim(foreign, claiming("m2", conversation="c9"))
        assert known == ClaimRefused(gone=True)
        assert subject.load(foreign, "c1", 40) is None
        assert subject.stored_answer(foreign, MessagePointer("m1", "c1", 1, "")) is None
        assert subject.settle(foreign, settlement) == SettleRefused(gone=True)

    def test_a_membership_of_another_version_may_not_claim(self, subject: TurnStore, backdrop: Backdrop) -> None:
        user = uuid4().hex
        scope = backdrop.member_scope(user=user)
        turn(subject, scope, beginning())
        for active, version in ((True, 2), (False, 1)):
            membership = backdrop.grant("acme", user, active=active, version=version)
            refused = subject.claim(scope, claiming("m2", holder="h2"))
            assert refused is not None
            assert refused.membership_changed
            assert loaded(subject, scope).membership == membership
        backdrop.grant("acme", user)
        assert subject.claim(scope, claiming("m2", holder="h2")) is None

    def test_a_turn_without_membership_begins_no_conversation(self, subject: TurnStore, backdrop: Backdrop) -> None:
        user = uuid4().hex
        scope = backdrop.member_scope(user=user)
        backdrop.grant("acme", user, active=False, version=2)
        assert subject.claim(scope, beginning()) == ClaimRefused(membership_changed=True)
        assert backdrop.conversation(scope, "c1") is None
        backdrop.grant("acme", user)
        assert subject.claim(scope, beginning(holder="h2")) is None

    @pytest.mark.parametrize("resumes", [None, "h1"], ids=["free", "dead turn"])
    def test_a_claim_from_another_site_is_refused(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope, resumes: str | None
    ) -> None:
        if resumes:
            subject.claim(scope, beginning())
        else:
            turn(subject, scope, beginning())
        stored = backdrop.conversation(scope, "c1")
        # By that site's rules the conversation would be too old to be there at all.
        late = NOW + timedelta(days=9)
        claim = replace(claiming("m1" if resumes else "m2", holder="h2"), site="shop", keep_days=1, now=late)
        refused = subject.claim(scope, replace(claim, resumes=resumes))
        assert refused is not None
        assert not refused.gone
        assert refused.conversation is not None
        assert refused.conversation.site == "docs"
        assert backdrop.conversation(scope, "c1") == stored

    def test_attachments_learn_which_conversations_use_them(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        for file_id in ("f1", "f2"):
            backdrop.put_file(scope, file_id)
        turn(subject, scope, replace(beginning(), attachments=("f1", "f2")))
        turn(subject, scope, replace(claiming("m2", holder="h2"), attachments=("f1",)))
        other = replace(beginning("m3", holder="h3", conversation="c2"), attachments=("f1",))
        assert subject.claim(scope, other) is None
        assert subject.claim(scope, other) is None
        assert [backdrop.file_users(scope, file_id) for file_id in ("f1", "f2")] == [{"c1", "c2"}, {"c1"}]

    def test_a_missing_foreign_or_used_up_attachment_is_refused(
        self, subject: TurnStore, backdrop: Backdrop, scope: Scope
    ) -> None:
        foreign = visitor_scope(visitor=uuid4().hex)
        backdrop.put_file(foreign, "foreign")
        full = [f"c{number}" for number in range(MOST_CONVERSATIONS)]
        backdrop.put_file(scope, "full", *full)
        turn(subject, scope, replace(beginning(), attachments=("full",)))
        for file_id in ("foreign", "missing", "full"):
            refused = subject.claim(scope, replace(beginning("m2", conversation="new"), attachments=(file_id,)))
            assert refused == ClaimRefused(files_gone=True)
        assert backdrop.conversation(scope, "new") is None
        assert backdrop.file_users(scope, "full") == set(full)
        assert backdrop.file_users(foreign, "foreign") == set()

    @pytest.mark.parametrize(
        "call",
        [
            lambda store, scope: store.claim(scope, beginning()),
            lambda store, scope: store.load(scope, "c1", 40),
            lambda store, scope: store.release(scope, "c1", "h1", NOW),
            lambda store, scope: store.park(scope, beginning().begins, NOW),
            lambda store, scope: store.stored_answer(scope, MessagePointer("m1", "c1", 1, "")),
        ],
    )
    def test_an_unreachable_store_raises_one_error(
        self, broken: TurnStore, scope: Scope, call: Callable[[TurnStore, Scope], object]
    ) -> None:
        with pytest.raises(FencepostError) as raised:
            call(broken, scope)
        assert raised.value.code is ErrorCode.CONVERSATIONS_UNAVAILABLE
        assert "no-such-table" not in repr(raised.value)

    def test_a_settlement_on_an_unreachable_store_raises_the_same_error(
        self, subject: TurnStore, break_store: Callable[[], TurnStore], scope: Scope
    ) -> None:
        subject.claim(scope, beginning())
        settlement = settling(subject, scope, claiming())
        with pytest.raises(FencepostError, match="conversations_unavailable"):
            break_store().settle(scope, settlement)
