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
    """Reading and changing conversations outside a turn. Errors are those of `TurnStore`."""

    def get(self, scope: Scope, conversation_id: str) -> Conversation | None:
        """Return the row."""
        ...

    def newest(self, scope: Scope, *, after: str | None, limit: int, title_contains: str = "") -> Page[Conversation]:
        """Return conversations, the last changed first. `title_contains` compares case-folded titles."""
        ...

    def rename(self, scope: Scope, conversation_id: str, title: str, now: datetime) -> Conversation | None:
        """Set the title; None where there is no such conversation."""
        ...

    def messages(
        self, scope: Scope, conversation_id: str, *, after: int | None, limit: int, newest_first: bool
    ) -> Page[Message]:
        """Return messages in either direction from a `seq` that is left out itself, archived ones included.

        The open turn's question stands in it as `pending`.
        """
        ...

    def pointer(self, scope: Scope, message_id: str) -> MessagePointer | None:
        """Find a question by its id, or an answer by its own; both lead to the question."""
        ...

    def rate(self, scope: Scope, pointer: MessagePointer, answer_id: str | None, rating: Rating | None) -> bool:
        """Store what the owner thinks of an answer, the newest one where no id is given; False where there is none."""
        ...

    def context(self, scope: Scope, pointer: MessagePointer, answer_id: str | None) -> AnswerContext | None:
        """Return what went into an answer, the newest one where no id is given."""
        ...

    def contexts(self, scope: Scope, question_ids: Sequence[str]) -> Iterator[AnswerContext]:
        """Yield what went into all answers to these questions, in the order of the questions and of the answers."""
        ...


class AttachmentStore(Protocol):
    """What is known of uploaded files."""

    def put(self, scope: Scope, attachment: Attachment) -> None:
        """Store a new attachment."""
        ...

    def get(self, scope: Scope, ids: Sequence[str]) -> dict[str, Attachment]:
        """Return those of the attachments that there are, by their ids; at most 100."""
        ...

    def advance(self, scope: Scope, attachment: Attachment) -> bool:
        """Store an attachment's new state; False where it is gone."""
        ...


class TextExtractor(Protocol):
    """Reads what is written in a file."""

    def text(self, content: bytes, content_type: str) -> str:
        """Return the text, normalised.

        Raises:
            FencepostError: `attachment_unreadable`; it is not what it says, is damaged, or takes too long.
                `attachment_too_large`; more is written in it than may be.
        """
        ...
