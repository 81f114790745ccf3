"""Old messages, imports and attachments. Errors are those of `fencepost.ports.TurnStore`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from fencepost.domain.archives import Block
from fencepost.domain.attachments import Attachment
from fencepost.domain.bundle_check import AskedQuestion
from fencepost.domain.identity import Scope
from fencepost.domain.jobs import Job
from fencepost.domain.messages import Conversation, Message

MOST_WRITTEN: Final = 50
"""Messages, or what points to questions, that one transaction stores."""


class ArchiveStore(Protocol):
    """Moves messages from rows to blocks, and drops what retention does not keep."""

    def conversation(self, scope: Scope, conversation_id: str) -> Conversation | None:
        """Return the row, also where it is too old for anybody else to see it."""
        ...

    def rows(self, scope: Scope, conversation_id: str, *, after: int, limit: int) -> tuple[Message, ...]:
        """Return the messages that are rows, oldest first, after a `seq`."""
        ...

    def blocks(self, scope: Scope, conversation_id: str) -> tuple[Block, ...]:
        """Return the blocks, oldest first."""
        ...

    def read(self, scope: Scope, block: Block) -> tuple[Message, ...]:
        """Return a block's messages, checked."""
        ...

    def move(self, scope: Scope, conversation: Conversation, block: Block, messages: Sequence[Message]) -> bool:
        """Store a block's row and remove those of its messages, in one transaction.

        Args:
            conversation: as it was read. It must still be this one, and archived as far.
            block: its object is in S3 and was read back.
            messages: as they were read. Their rows must be unchanged.

        Returns:
            False where something was not as it was read: nothing is changed.
        """
        ...

    def keep_from(self, scope: Scope, conversation: Conversation, seq: int) -> bool:
        """Say that what is below `seq` is not shown any more, and no summary covers it; False where it is gone."""
        ...

    def drop_rows(self, scope: Scope, conversation_id: str, messages: Sequence[Message]) -> None:
        """Remove rows and what points to them."""
        ...

    def drop_block(self, scope: Scope, conversation_id: str, block: Block) -> None:
        """Remove a block's row, and the ratings that its answers got since they moved."""
        ...

    def drop_files(self, scope: Scope, conversation_id: str) -> None:
        """Remove the files that were attached in a conversation that is over, and in no other that is there."""
        ...

    def end(self, scope: Scope, conversation: Conversation) -> bool:
        """Remove the last rows of a conversation that is over; False where it is not as it was read any more."""
        ...


class ImportStore(Protocol):
    """Writes whole conversations. Nobody sees one before it is complete, and an erasure ends its import."""

    def taken(self, scope: Scope, message_ids: Sequence[str]) -> dict[str, str]:
        """Return, for those of the questions' ids that are taken, the conversation that each belongs to."""
        ...

    def begin(self, scope: Scope, conversation_id: str, job: Job, incarnation: str) -> str | None:
        """Mark that a job is writing a conversation, and return the incarnation that it writes.

        A job that is repeated gets the one it began with. What another one left unfinished is removed, and is its own
        no more.

        Returns:
            None where the conversation is there, or was erased after the job was made.
        """
        ...

    def write_messages(
        self, scope: Scope, conversation_id: str, incarnation: str, messages: Sequence[Message], *, keep_days: int = 0
    ) -> bool:
        """Store at most `MOST_WRITTEN` messages; False where the mark is gone. `keep_days`: see `Conversation`."""
        ...

    def write_questions(
        self,
        scope: Scope,
        conversation_id: str,
        incarnation: str,
        questions: Sequence[AskedQuestion],
        *,
        keep_days: int = 0,
    ) -> bool:
        """Store what points to at most `MOST_WRITTEN` questions; False where the mark is gone or an id is taken."""
        ...

    def finish(self, scope: Scope, conversation: Conversation) -> bool:
        """Make the conversation visible in the place of its mark; False where that is gone."""
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
