"""What a stored conversation's prompt is made of, for tests: messages, facts, summaries, and a turn's material."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from fencepost.conversations.domain.messages import Conversation, Message, MessageStatus, OpenTurn
from fencepost.documents.domain.sections import DocumentSet
from fencepost.identity.domain.sites import Fact, FactState, Site
from fencepost.memory.domain.summaries import Summary, SummaryLine
from fencepost.model.domain import Role
from fencepost.prompting.domain.fence import Section
from fencepost.turns.domain.turns import TurnMaterial, TurnRequest

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SITE = Site(org="acme", id="docs", key="docs")
GUIDE = DocumentSet((Section("guide#1", "Guide", "https://a.example/guide", "# Guide\n\nRun it."),), "h")
LIBRARY = DocumentSet(
    tuple(Section(f"page#{n}", f"Page {n}", f"https://a.example/{n}", f"Page {n}. " * 40) for n in range(80)), "h"
)


def question(seq: int, text: str = "", status: MessageStatus = MessageStatus.ANSWERED) -> Message:
    content = text or f"Question {seq}?"
    return Message(id=f"q{seq}", seq=seq, role=Role.USER, content=content, created_at=NOW, status=status)


def answer(seq: int, to: int, text: str = "", status: MessageStatus = MessageStatus.COMPLETE) -> Message:
    content = text or f"Answer to {to}."
    return Message(
        id=f"q{to}.1", seq=seq, role=Role.ASSISTANT, content=content, created_at=NOW, status=status, reply_to=to
    )


def said(count: int, text: str = "") -> tuple[Message, ...]:
    """Return so many exchanges, one after another."""
    return tuple(
        message for seq in range(1, 2 * count, 2) for message in (question(seq, text), answer(seq + 1, seq, text))
    )


def fact(number: int, text: str = "Likes tea.", state: FactState = FactState.PINNED) -> Fact:
    return Fact(id=f"f{number}", text=text, state=state, pinned_by="owner", created_at=NOW)


def summary(*lines: str, last_seq: int = 2) -> Summary:
    return Summary(
        id="s1",
        lines=tuple(SummaryLine(line, (f"m{number}", f"m{number}.1")) for number, line in enumerate(lines)),
        first_seq=1,
        last_seq=last_seq,
        content_hash="h",
        prompt_version="1",
        model="m",
        created_at=NOW,
    )


def request(message: str = "And now?") -> TurnRequest:
    return TurnRequest(message=message, message_id="now", conversation_id="c")


def material(
    recent: Sequence[Message] = (),
    *,
    facts: Sequence[Fact] = (),
    summed: Summary | None = None,
    seq: int | None = None,
    kept_from: int = 1,
) -> TurnMaterial:
    """Return what is loaded for a turn whose question follows the messages."""
    number = seq or (recent[-1].seq + 1 if recent else 1)
    conversation = Conversation(
        id="c",
        site="docs",
        incarnation="i",
        title="",
        created_at=NOW,
        updated_at=NOW,
        next_seq=number,
        kept_from=kept_from,
        open_turn=OpenTurn(message_id="now", seq=number, holder="h", until=NOW),
    )
    return TurnMaterial(conversation=conversation, recent=tuple(recent), summary=summed, facts=tuple(facts))
