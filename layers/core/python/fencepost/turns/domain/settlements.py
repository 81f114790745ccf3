"""Settlements: where a turn's question and answer stand in the conversation, and the rows that its end stores."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fencepost.conversations.domain.messages import AnswerContext, Message, MessageStatus, answer_id
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import MicroDollars, Usage
from fencepost.model.domain import LayerUse, Role, Source
from fencepost.turns.domain.turns import Claim, Settlement, TurnMaterial, TurnRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOutcome:
    """The answer that a turn's one model call gave, and what the call consisted of and cost."""

    text: str
    cited: tuple[Source, ...]
    layers: tuple[LayerUse, ...]
    usage: Usage | None
    cost: MicroDollars
    model: str
    prompt_version: str
    permission_version: int
    degraded: bool = False


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """The place of a turn in its conversation.

    Attributes:
        question: `seq` of the question.
        answer: `seq` that the answer gets.
        revision: number of the answer among those to its question, from 1.
        replaced: `seq` of the answer that is regenerated.
        key: the idempotency key of the request that claimed the turn first, even if another request finishes it.
    """

    question: int
    answer: int
    revision: int
    replaced: int | None
    key: str | None = None


def place_of(material: TurnMaterial) -> AnswerPlace:
    """Return the place of the open turn.

    Raises:
        FencepostError: `regenerate_not_last`; messages follow the answer that is to be regenerated.
    """
    conversation = material.conversation
    turn = conversation.open_turn
    if turn is None:
        raise ValueError("no turn is open")
    following = conversation.next_seq
    if turn.regenerates is None:
        return AnswerPlace(turn.seq, following if turn.seq < following else following + 1, 1, None)
    before = newest_answer(material, turn.seq)
    if before is None or before.seq + 1 != following:
        raise FencepostError(ErrorCode.REGENERATE_NOT_LAST)
    return AnswerPlace(turn.seq, following, turn.regenerates, before.seq, turn.key)


def newest_answer(material: TurnMaterial, seq: int) -> Message | None:
    """Return the newest answer to a question among the messages that were loaded."""
    answers = (message for message in material.recent if message.reply_to == seq)
    return max(answers, key=lambda message: message.seq, default=None)


def settlement(
    claim: Claim, request: TurnRequest, material: TurnMaterial, outcome: TurnOutcome, now: datetime
) -> Settlement:
    """Return the question, answer and context that one transaction stores."""
    place = place_of(material)
    question = None
    if place.question >= material.conversation.next_seq:  # It is not a row yet.
        question = Message(
            id=request.message_id,
            seq=place.question,
            role=Role.USER,
            content=request.message,
            created_at=claim.now,
            status=MessageStatus.ANSWERED,
            attachments=request.attachments,
        )
    answer = Message(
        id=answer_id(request.message_id, place.revision),
        seq=place.answer,
        role=Role.ASSISTANT,
        content=outcome.text,
        created_at=now,
        status=MessageStatus.COMPLETE,
        reply_to=place.question,
        sources=outcome.cited,
        usage=outcome.usage,
        degraded=outcome.degraded,
    )
    return Settlement(
        conversation=material.conversation,
        holder=claim.holder,
        question=question,
        question_seq=place.question,
        question_id=request.message_id,
        answer=answer,
        context=_context(answer, outcome),
        now=now,
        supersedes=place.replaced,
        key=place.key,
    )


def _context(answer: Message, outcome: TurnOutcome) -> AnswerContext:
    return AnswerContext(
        answer_id=answer.id,
        created_at=answer.created_at,
        model=outcome.model,
        prompt_version=outcome.prompt_version,
        permission_version=outcome.permission_version,
        layers=outcome.layers,
        usage=outcome.usage,
        cost_microdollars=outcome.cost,
        cited=tuple(source.id for source in outcome.cited),
        degraded=outcome.degraded,
    )
