"""Reading, renaming and rating conversations, outside turns. Absent and foreign ones give the same error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message, MessagePointer, Rating
from fencepost.conversations.ports import ConversationStore
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.paging import Page
from fencepost.kernel.ports import Clock


@dataclass(frozen=True, slots=True)
class ConversationService:
    """Use cases of an owner's conversations.

    All methods raise `FencepostError`: `not_found` for ids outside the scope, `conversations_unavailable` when
    the store does not answer.
    """

    store: ConversationStore
    clock: Clock

    def newest(self, scope: Scope, *, after: str | None, limit: int, title: str = "") -> Page[Conversation]:
        """Return the conversations whose title contains `title` in any case, last changed first."""
        return self.store.newest(scope, after=after, limit=limit, title_contains=title)

    def get(self, scope: Scope, conversation_id: str) -> Conversation:
        """Return a conversation."""
        return _found(self.store.get(scope, conversation_id))

    def rename(self, scope: Scope, conversation_id: str, title: str) -> Conversation:
        """Set the title. Jobs no longer change it."""
        self.get(scope, conversation_id)
        return _found(self.store.rename(scope, conversation_id, title, self.clock()))

    def messages(
        self, scope: Scope, conversation_id: str, *, after: int | None, limit: int, newest_first: bool
    ) -> Page[Message]:
        """Return messages in either direction, starting next to the number `after`."""
        self.get(scope, conversation_id)
        return self.store.messages(scope, conversation_id, after=after, limit=limit, newest_first=newest_first)

    def rate(self, scope: Scope, message_id: str, rating: Rating | None) -> None:
        """Store the rating of an answer. A question's id stands for its newest answer.

        Raises:
            FencepostError: `answer_missing` besides; the question waits for its first answer.
        """
        pointer = self._pointer(scope, message_id)
        if not self.store.rate(scope, pointer, answer_of(message_id, pointer), rating):
            raise _absent_answer(message_id, pointer)

    def context(self, scope: Scope, message_id: str, conversation_id: str | None = None) -> AnswerContext:
        """Return the context of an answer. A question's id stands for its newest answer.

        Args:
            scope: the owner's.
            message_id: of the question or the answer.
            conversation_id: the conversation that the message must be in; None accepts any.

        Raises:
            FencepostError: `answer_missing` besides; the question waits for its first answer.
        """
        pointer = self._pointer(scope, message_id)
        if conversation_id not in (None, pointer.conversation_id):
            raise FencepostError(ErrorCode.NOT_FOUND)
        context = self.store.context(scope, pointer, answer_of(message_id, pointer))
        if context is None:
            raise _absent_answer(message_id, pointer)
        return context

    def _pointer(self, scope: Scope, message_id: str) -> MessagePointer:
        """Return the pointer of a message whose conversation exists. Erasures remove conversations before pointers."""
        pointer = _found(self.store.pointer(scope, message_id))
        self.get(scope, pointer.conversation_id)
        return pointer


def answer_of(message_id: str, pointer: MessagePointer) -> str | None:
    """Return the id if it is an answer's; None if it is the question's."""
    return None if message_id == pointer.message_id else message_id


def _absent_answer(message_id: str, pointer: MessagePointer) -> FencepostError:
    """Return `answer_missing` for a question that waits for its answer, `not_found` for an unknown answer."""
    return FencepostError(ErrorCode.NOT_FOUND if answer_of(message_id, pointer) else ErrorCode.ANSWER_MISSING)


def _found[T](value: T | None) -> T:
    if value is None:
        raise FencepostError(ErrorCode.NOT_FOUND)
    return value


_PAGE = 100


def transcript(
    store: ConversationStore, scope: Scope, conversation_id: str, after: int = 0, *, at_once: int = _PAGE
) -> Iterator[Message]:
    """Yield the messages above the number `after`, oldest first and archived ones included, reading pages of `at_once`.

    Raises:
        FencepostError: `conversations_unavailable`.
    """
    reached: int | None = after or None
    while True:
        page = store.messages(scope, conversation_id, after=reached, limit=at_once, newest_first=False)
        yield from page.items
        if page.next_key is None or not page.items:
            return
        reached = page.items[-1].seq
