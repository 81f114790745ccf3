"""What is written about the conversation that is erased: claims, answers, facts and blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from fencepost.blobs import domain as objects
from fencepost.conversations.domain.archives import ArchiveBlock
from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message, MessageStatus
from fencepost.identity.domain.sites import Fact, FactState
from fencepost.model.domain import Role
from fencepost.turns.domain.turns import Claim, Settlement, fingerprint
from tests.integration.erasure_world import NOON

DOOMED = "doomed"
BEFORE, LATER = NOON - timedelta(minutes=1), NOON + timedelta(minutes=1)
BIG = "A long answer. " * 4_000


def doomed_row() -> Conversation:
    return Conversation(
        id=DOOMED,
        site="docs",
        incarnation=f"incarnation-{DOOMED}",
        title="",
        created_at=NOON,
        updated_at=NOON,
        next_seq=3,
    )


def doomed_claim(content: str = "And then?") -> Claim:
    return Claim(
        conversation_id=DOOMED,
        message_id=f"{DOOMED}-q9",
        fingerprint=fingerprint(content),
        site="docs",
        content=content,
        holder="h",
        now=NOON,
        until=LATER,
    )


def settlement_of(row: Conversation) -> Settlement:
    question = message_of(f"{DOOMED}-q9", 3, "And then?")
    answer = replace(message_of(f"{DOOMED}-q9.1", 4, BIG), role=Role.ASSISTANT, status=MessageStatus.COMPLETE)
    context = AnswerContext(
        answer_id=answer.id,
        created_at=NOON,
        model="m",
        prompt_version="1",
        permission_version=0,
        layers=(),
        usage=None,
        cost_microdollars=0,
    )
    return Settlement(
        conversation=row,
        holder="h",
        question=question,
        question_seq=3,
        question_id=question.id,
        answer=answer,
        context=context,
        now=NOON,
    )


def message_of(message_id: str, seq: int, content: str) -> Message:
    answered = MessageStatus.ANSWERED
    return Message(id=message_id, seq=seq, role=Role.USER, content=content, created_at=NOON, status=answered)


def drawn_fact(fact_id: str, state: FactState) -> Fact:
    """Return a fact that was drawn from the doomed conversation."""
    return Fact(
        id=f"{DOOMED}-{fact_id}",
        text="F",
        state=state,
        pinned_by="owner",
        created_at=NOON,
        provenance=(f"{DOOMED}-q1",),
    )


def block_of(messages: Sequence[Message], content: bytes) -> ArchiveBlock:
    return ArchiveBlock(
        first_seq=messages[0].seq,
        last_seq=messages[-1].seq,
        object=objects.block(DOOMED, messages[0].seq, content),
        sha256=hashlib.sha256(content).hexdigest(),
        first_at=NOON,
        last_at=NOON,
    )
