"""Rows that other stores write around a store under test, put and read without that store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message, MessagePointer
from fencepost.identity.domain.scope import Action, Member, Membership, Scope, authorize, own
from fencepost.identity.domain.sites import Fact
from fencepost.memory.domain.summaries import Summary
from tests.conformance.samples import NOW
from tests.fakes.answers import FixedClock
from tests.worlds import api as api_world

CLOCK = FixedClock(NOW)


def context_of(answer: Message) -> AnswerContext:
    """Return what went into an answer of `Backdrop.converse`."""
    return api_world.context(answer, CLOCK)


class Backdrop(ABC):
    """Rows of conversations, messages, facts, files and memberships, as a suite arranges and inspects them."""

    @abstractmethod
    def put_conversation(self, scope: Scope, row: Conversation) -> None:
        """Store a conversation's row."""

    @abstractmethod
    def remove_conversation(self, scope: Scope, conversation_id: str) -> None:
        """Remove a conversation's row and nothing else, as an erasure does first."""

    @abstractmethod
    def conversation(self, scope: Scope, conversation_id: str) -> Conversation | None:
        """Return a conversation's row."""

    @abstractmethod
    def messages(self, scope: Scope, conversation_id: str) -> list[Message]:
        """Return the messages that have rows, oldest first; an open turn's question is not among them."""

    @abstractmethod
    def put_messages(self, scope: Scope, conversation_id: str, *messages: Message) -> None:
        """Store rows of messages."""

    @abstractmethod
    def put_pointer(
        self, scope: Scope, pointer: MessagePointer, answers: Mapping[int, tuple[int, AnswerContext | None]]
    ) -> None:
        """Store what points to a question; `answers` are number and context by revision."""

    @abstractmethod
    def wait(self, scope: Scope, row: Conversation, seq: int) -> None:
        """Store a conversation with the question `waiting` in its open turn, under this number."""

    @abstractmethod
    def grant(self, org: str, user: str, *, active: bool = True, version: int = 1) -> Membership:
        """Store a membership."""

    @abstractmethod
    def remove_membership(self, org: str, user: str) -> None:
        """Remove a membership's row."""

    @abstractmethod
    def erase_owner(self, scope: Scope, at: datetime) -> None:
        """Record that everything of an owner was erased."""

    @abstractmethod
    def put_summary(self, scope: Scope, conversation_id: str, summary: Summary) -> None:
        """Store a summary's row."""

    @abstractmethod
    def put_facts(self, scope: Scope, *facts: Fact) -> None:
        """Store facts."""

    @abstractmethod
    def put_file(self, scope: Scope, file_id: str, *used_by: str) -> None:
        """Store an attachment's row that names these conversations as its users."""

    @abstractmethod
    def file_users(self, scope: Scope, file_id: str) -> set[str] | None:
        """Return the conversations that use an attachment; None where there is no such attachment."""

    def begin(self, scope: Scope, **changes: object) -> Conversation:
        """Store the row of a conversation with eight messages: `c1`, unless `changes` name another."""
        row = Conversation(id="c1", site="docs", incarnation="i1", title="", created_at=NOW, updated_at=NOW, next_seq=9)
        row = replace(row, **changes)  # type: ignore[arg-type]  # fields by name
        self.put_conversation(scope, row)
        return row

    def converse(self, scope: Scope, conversation_id: str, turns: int, **changes: object) -> Conversation:
        """Store a conversation with so many turns; its questions are `<conversation>-<number>`."""
        row = replace(api_world.conversation(conversation_id, turns, CLOCK), **changes)  # type: ignore[arg-type]  # by name
        self.put_conversation(scope, row)
        for number in range(1, turns + 1):
            question, answer = api_world.exchange(conversation_id, number, CLOCK)
            self.put_messages(scope, conversation_id, question, answer)
            pointer = MessagePointer(question.id, conversation_id, question.seq, "f" * 64)
            self.put_pointer(scope, pointer, {1: (answer.seq, context_of(answer))})
        return row

    def member_scope(self, org: str = "acme", user: str = "u1", action: Action = Action.CHAT) -> Scope:
        """Make a user a member, and return the scope of the user's own data."""
        caller = Member(org, user, self.grant(org, user))
        return authorize(caller, action, own(caller))
