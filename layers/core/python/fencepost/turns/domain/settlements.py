"""What a turn stores at its end, worked out from what it found and what the model wrote."""

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
    """What a turn's one call of the model gave, and what went into it."""

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
    """Where a turn stands in its conversation.

    Attributes:
        question: its `seq`.
        answer: the `seq` that its answer gets.
        revision: which of the question's answers that is, counted from 1.
        replaced: the `seq` of the answer before, where one is made anew.
        key: under which that was asked for: by whoever claimed the turn first, and not by whoever finishes it.
    """

    question: int
    answer: int
    revision: int
    replaced: int | None
    key: str | None = None


def place_of(material: TurnMaterial) -> AnswerPlace:
    """Return where the open turn stands.

    Raises:
        FencepostError: `regenerate_not_last`; something was said after the answer that is to be made anew.
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
    """Return what is stored in one transaction."""
    place = place_of(material)
    stored = place.question < material.conversation.next_seq
    answer = _answer(request.message_id, place, outcome, now)
    return Settlement(
        conversation=material.conversation,
        holder=claim.holder,
        question=None if stored else _question(claim, request, place),
        question_seq=place.question,
        question_id=request.message_id,
        answer=answer,
        context=_context(answer, outcome, now),
        now=now,
        supersedes=place.replaced,
        key=place.key,
    )


def _question(claim: Claim, request: TurnRequest, place: AnswerPlace) -> Message:
    return Message(
        id=request.message_id,
        seq=place.question,
        role=Role.USER,
        content=request.message,
        created_at=claim.now,
        status=MessageStatus.ANSWERED,
        attachments=request.attachments,
    )


def _answer(message_id: str, place: AnswerPlace, outcome: TurnOutcome, now: datetime) -> Message:
    return Message(
        id=answer_id(message_id, place.revision),
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


def _context(answer: Message, outcome: TurnOutcome, now: datetime) -> AnswerContext:
    return AnswerContext(
        answer_id=answer.id,
        created_at=now,
        model=outcome.model,
        prompt_version=outcome.prompt_version,
        permission_version=outcome.permission_version,
        layers=outcome.layers,
        usage=outcome.usage,
        cost_microdollars=outcome.cost,
        cited=tuple(source.id for source in outcome.cited),
        degraded=outcome.degraded,
    )
