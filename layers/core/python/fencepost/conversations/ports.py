"""Stores of conversations and attachments.

Every method takes a `Scope` first, so a query outside it cannot be written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from fencepost.conversations.domain.attachments import Attachment
from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message, MessagePointer, Rating
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.paging import Page


class ConversationStore(Protocol):
    """Storage of conversations, for reads and changes outside turns. Errors are those of `TurnStore`."""

    def get(self, scope: Scope, conversation_id: str) -> Conversation | None:
        """Return a conversation; None where it does not exist or has expired."""
        ...

    def newest(self, scope: Scope, *, after: str | None, limit: int, title_contains: str = "") -> Page[Conversation]:
        """Return conversations, last changed first, whose case-folded title contains `title_contains`."""
        ...

    def rename(self, scope: Scope, conversation_id: str, title: str, now: datetime) -> Conversation | None:
        """Set a title and return the conversation; None where it does not exist."""
        ...

    def messages(
        self, scope: Scope, conversation_id: str, *, after: int | None, limit: int, newest_first: bool
    ) -> Page[Message]:
        """Return messages in either direction, starting next to the `seq` given as `after`; archived ones included.

        The open turn's question is included, as `pending`.
        """
        ...

    def pointer(self, scope: Scope, message_id: str) -> MessagePointer | None:
        """Return the pointer of a question, found by its own id or by the id of one of its answers."""
        ...

    def rate(self, scope: Scope, pointer: MessagePointer, answer_id: str | None, rating: Rating | None) -> bool:
        """Store the rating of an answer, by default of the newest; False where there is no such answer."""
        ...

    def context(self, scope: Scope, pointer: MessagePointer, answer_id: str | None) -> AnswerContext | None:
        """Return the context of an answer, by default of the newest."""
        ...

    def contexts(self, scope: Scope, question_ids: Sequence[str]) -> Iterator[AnswerContext]:
        """Yield the contexts of all answers to these questions, in the order of questions and answers."""
        ...


class AttachmentStore(Protocol):
    """Storage of attachments' rows."""

    def put(self, scope: Scope, attachment: Attachment) -> None:
        """Store a new attachment."""
        ...

    def get(self, scope: Scope, ids: Sequence[str]) -> dict[str, Attachment]:
        """Return the attachments that exist, by their ids; 100 ids at most."""
        ...

    def advance(self, scope: Scope, attachment: Attachment) -> bool:
        """Store the new state of an attachment; False where its row is gone."""
        ...


class TextExtractor(Protocol):
    """Extracts the text of a file."""

    def text(self, content: bytes, content_type: str) -> str:
        """Return the file's text, normalised.

        Raises:
            FencepostError: `attachment_unreadable`; the file is not of its content type, is damaged, or takes too
                long. `attachment_too_large`; its text is too long.
        """
        ...
