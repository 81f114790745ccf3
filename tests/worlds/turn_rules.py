"""What holds of every conversation, whatever happened to the processes that wrote it."""

from __future__ import annotations

from fencepost.conversations.domain.messages import Message, MessageStatus
from fencepost.limits.domain.ledger import DayBill
from fencepost.model.domain import Role

CALLS: tuple[str, ...] = (
    "turns.claim",
    "documents.current",
    "turns.load",
    "ledger.reserve",
    "model.complete",
    "turns.settle",
    "ledger.settle",
)
"""Every call of a port that a turn makes."""

COST = 150
"""Micro-dollars of one call of the fake model: 100 tokens in, 10 out."""


def check_messages(messages: list[Message]) -> None:
    """No number is missing or given twice, and each answer belongs to a question before it, one to each revision."""
    assert [message.seq for message in messages] == list(range(1, len(messages) + 1))
    assert len({message.id for message in messages}) == len(messages)
    questions = {message.seq: message for message in messages if message.role is Role.USER}
    for answer in (message for message in messages if message.role is Role.ASSISTANT):
        assert answer.reply_to is not None
        assert answer.reply_to < answer.seq
        assert answer.id.partition(".")[0] == questions[answer.reply_to].id


def check_answered_once(messages: list[Message], *message_ids: str) -> None:
    """Exactly these questions are there, each once, and each has exactly one complete answer."""
    check_messages(messages)
    asked = sorted(message.id for message in messages if message.role is Role.USER)
    assert asked == sorted(message_ids)
    assert all(message.status is MessageStatus.ANSWERED for message in messages if message.role is Role.USER)
    complete = sorted(message.id for message in messages if message.status is MessageStatus.COMPLETE)
    assert complete == sorted(f"{message_id}.1" for message_id in message_ids)


def check_bill(bill: DayBill, calls: int) -> None:
    """The provider was called at most once for each permit, and no call costs more than what is committed for it."""
    assert calls <= bill.calls
    assert bill.committed >= calls * COST
