"""Conversations in plain memory, with the same rules as the adapter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from fencepost.conversations.domain.archives import is_expired, is_kept
from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message, MessagePointer, Rating
from fencepost.conversations.domain.messages import answer_id as id_of
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.paging import Page
from tests.fakes.memory import Faults

type Owned = tuple[str, str, str]
"""Organisation, owner, and the id of a conversation or of a question."""


def owned(scope: Scope, name: str) -> Owned:
    """Return where something of a scope lies."""
    return (scope.org, scope.owner, name)


@dataclass
class Shelf:
    """What all owners' conversations are made of.

    Attributes:
        messages: by the conversation.
        pointers: by the question's id.
        answers: by the question's id, then by revision: the answer's number and its context.
    """

    conversations: dict[Owned, Conversation] = field(default_factory=dict)
    messages: dict[Owned, list[Message]] = field(default_factory=dict)
    pointers: dict[Owned, MessagePointer] = field(default_factory=dict)
    answers: dict[Owned, dict[int, tuple[int, AnswerContext | None]]] = field(default_factory=dict)


@dataclass
class FakeConversations:
    """Implements `ConversationStore`. A question that waits stands among `messages`, as pending.

    Attributes:
        clock: tells what is too old to be read; without one nothing is.
    """

    shelf: Shelf = field(default_factory=Shelf)
    faults: Faults = field(default_factory=Faults)
    clock: Callable[[], datetime] | None = None

    def get(self, scope: Scope, conversation_id: str) -> Conversation | None:
        with self.faults.call():
            row = self.shelf.conversations.get(owned(scope, conversation_id))
            return row if row and self._is_shown(row) else None

    def newest(self, scope: Scope, *, after: str | None, limit: int, title_contains: str = "") -> Page[Conversation]:
        with self.faults.call():
            mine = [row for (*who, _), row in self.shelf.conversations.items() if who == [scope.org, scope.owner]]
            wanted = [row for row in mine if title_contains.casefold() in row.title.casefold() and self._is_shown(row)]
            rows = sorted(wanted, key=_position, reverse=True)
            rest = [row for row in rows if after is None or _position(row) < after]
            some = rest[:limit]
            return Page(tuple(some), _position(some[-1]) if len(rest) > limit else None)

    def rename(self, scope: Scope, conversation_id: str, title: str, now: datetime) -> Conversation | None:
        with self.faults.call():
            row = self.shelf.conversations.get(owned(scope, conversation_id))
            if row is None:
                return None
            renamed = replace(row, title=title, updated_at=now)
            self.shelf.conversations[owned(scope, conversation_id)] = renamed
            return renamed

    def messages(
        self, scope: Scope, conversation_id: str, *, after: int | None, limit: int, newest_first: bool
    ) -> Page[Message]:
        with self.faults.call():
            conversation = self.shelf.conversations.get(owned(scope, conversation_id))
            found = self.shelf.messages.get(owned(scope, conversation_id), []) if conversation else []
            shown = (message for message in found if conversation and self._is_kept(conversation, message))
            rows = sorted(shown, key=lambda message: message.seq, reverse=newest_first)
            rest = [row for row in rows if after is None or (row.seq < after if newest_first else row.seq > after)]
            some = rest[:limit]
            return Page(tuple(some), str(some[-1].seq) if len(rest) > limit else None)

    def pointer(self, scope: Scope, message_id: str) -> MessagePointer | None:
        with self.faults.call():
            return self.shelf.pointers.get(owned(scope, message_id.partition(".")[0]))

    def rate(self, scope: Scope, pointer: MessagePointer, answer_id: str | None, rating: Rating | None) -> bool:
        with self.faults.call():
            found = self._answer(scope, pointer, answer_id)
            if found is None:
                return False
            rows = self.shelf.messages[owned(scope, pointer.conversation_id)]
            rows[:] = [replace(row, rating=rating) if row.seq == found[0] else row for row in rows]
            return True

    def context(self, scope: Scope, pointer: MessagePointer, answer_id: str | None) -> AnswerContext | None:
        with self.faults.call():
            found = self._answer(scope, pointer, answer_id)
            return found[1] if found else None

    def contexts(self, scope: Scope, question_ids: Sequence[str]) -> Iterator[AnswerContext]:
        with self.faults.call():
            answers = [self.shelf.answers.get(owned(scope, one), {}) for one in question_ids]
            entries = [context for one in answers for _, (_, context) in sorted(one.items())]
        return (context for context in entries if context)

    def _is_shown(self, row: Conversation) -> bool:
        return self.clock is None or not is_expired(row, self.clock())

    def _is_kept(self, row: Conversation, message: Message) -> bool:
        return message.seq >= row.kept_from and (self.clock is None or is_kept(row, message, self.clock()))

    def _answer(
        self, scope: Scope, pointer: MessagePointer, answer_id: str | None
    ) -> tuple[int, AnswerContext | None] | None:
        answers = self.shelf.answers.get(owned(scope, pointer.message_id), {})
        if answer_id is None:
            return answers[max(answers)] if answers else None
        return {id_of(pointer.message_id, revision): entry for revision, entry in answers.items()}.get(answer_id)


def _position(row: Conversation) -> str:
    return f"{row.updated_at.isoformat()}|{row.id}"
