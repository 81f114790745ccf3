"""Claims and settlements of turns, as tests make them without the service."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message, MessageStatus
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.money import Usage
from fencepost.model.domain import LayerUse, Role
from fencepost.turns.domain.turns import LEASE, Claim, Settlement, TurnMaterial, fingerprint
from fencepost.turns.ports import TurnStore
from tests.conformance.samples import NOW

LATER = NOW + timedelta(minutes=5)


def claiming(message_id: str = "m1", *, holder: str = "h1", conversation: str = "c1", text: str = "Hello") -> Claim:
    """Return a claim on an existing conversation."""
    return Claim(
        conversation_id=conversation,
        message_id=message_id,
        fingerprint=fingerprint(text),
        content=text,
        holder=holder,
        now=NOW,
        until=NOW + LEASE,
        site="docs",
    )


def beginning(message_id: str = "m1", *, holder: str = "h1", conversation: str = "c1", text: str = "Hello") -> Claim:
    """Return a claim that makes its conversation."""
    row = Conversation(
        id=conversation, site="docs", incarnation="i1", title="", created_at=NOW, updated_at=NOW, next_seq=1
    )
    return replace(claiming(message_id, holder=holder, conversation=conversation, text=text), begins=row)


def loaded(store: TurnStore, scope: Scope, conversation: str = "c1", limit: int = 40) -> TurnMaterial:
    material = store.load(scope, conversation, limit)
    assert material is not None
    return material


def settling(store: TurnStore, scope: Scope, claim: Claim, text: str = "Yes.", now: datetime = LATER) -> Settlement:
    """Return what the turn of a claim stores at its end."""
    conversation = loaded(store, scope, claim.conversation_id).conversation
    assert conversation.open_turn is not None
    seq, following = conversation.open_turn.seq, conversation.next_seq
    is_row = seq < following
    question = Message(
        id=claim.message_id,
        seq=seq,
        role=Role.USER,
        content=claim.content,
        created_at=NOW,
        status=MessageStatus.ANSWERED,
    )
    answer = Message(
        id=f"{claim.message_id}.{claim.regenerates or 1}",
        seq=following if is_row else following + 1,
        role=Role.ASSISTANT,
        content=text,
        created_at=now,
        status=MessageStatus.COMPLETE,
        reply_to=seq,
        usage=Usage(1, 0, 0, 1),
    )
    context = AnswerContext(
        answer_id=answer.id,
        created_at=now,
        model="claude-haiku-4-5",
        prompt_version="2",
        permission_version=0,
        layers=(LayerUse("message", 3, (f"msg:{claim.message_id}",)),),
        usage=None,
        cost_microdollars=7,
    )
    return Settlement(
        conversation=conversation,
        holder=claim.holder,
        question=None if is_row else question,
        question_seq=seq,
        question_id=claim.message_id,
        answer=answer,
        context=context,
        now=now,
    )


def turn(store: TurnStore, scope: Scope, claim: Claim, text: str = "Yes.") -> Settlement:
    """Make a whole turn."""
    assert store.claim(scope, claim) is None
    settlement = settling(store, scope, claim, text)
    assert store.settle(scope, settlement) is None
    return settlement
