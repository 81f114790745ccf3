"""Blocks, imports and attachments in plain memory, over the same shelf as the fake conversations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeGuard

from fencepost.blobs.domain import BIG_BYTES, big_content
from fencepost.conversations.domain.archives import ArchiveBlock, DamagedBlock, unpack
from fencepost.conversations.domain.attachments import Attachment
from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.paging import Page
from fencepost.lifecycle.domain.bundle_check import AskedQuestion
from fencepost.queue.domain import Job
from tests.fakes.blobs import FakeBlobs, Faults
from tests.fakes.conversations import FakeConversations, Owned, Shelf, owned


@dataclass
class FakeArchive:
    """Implements `ArchiveStore`. Rows are the shelf's messages; a block takes them off it."""

    shelf: Shelf
    blobs: FakeBlobs
    faults: Faults = field(default_factory=Faults)
    stored: dict[Owned, dict[int, ArchiveBlock]] = field(default_factory=dict)
    interfere: Callable[[], object] | None = None
    """Called once before a block is moved, as another writer would be."""
    files: dict[Owned, set[str]] = field(default_factory=dict)
    """The conversations that use each attachment."""

    def conversation(self, scope: Scope, conversation_id: str) -> Conversation | None:
        with self.faults.write("conversation"):
            return self.shelf.conversations.get(owned(scope, conversation_id))

    def rows(self, scope: Scope, conversation_id: str, *, after: int, limit: int) -> tuple[Message, ...]:
        with self.faults.write("rows"):
            rows = sorted(self.shelf.messages.get(owned(scope, conversation_id), []), key=lambda row: row.seq)
            return tuple(row for row in rows if row.seq > after)[:limit]

    def blocks(self, scope: Scope, conversation_id: str) -> tuple[ArchiveBlock, ...]:
        with self.faults.write("blocks"):
            return tuple(block for _, block in sorted(self.stored.get(owned(scope, conversation_id), {}).items()))

    def read(self, scope: Scope, block: ArchiveBlock) -> tuple[Message, ...]:
        try:
            return unpack(block, self.blobs.get(scope, block.object) or b"")
        except DamagedBlock:
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None

    def move(self, scope: Scope, conversation: Conversation, block: ArchiveBlock, messages: Sequence[Message]) -> bool:
        if self.interfere:
            interfere, self.interfere = self.interfere, None
            interfere()
        with self.faults.write("move"):
            place = owned(scope, conversation.id)
            row, rows = self.shelf.conversations.get(place), self.shelf.messages[place]
            unchanged = all(message in rows for message in messages)
            if not _is(row, conversation) or row.archived_through != block.first_seq - 1 or not unchanged:
                return False
            self.shelf.conversations[place] = replace(row, archived_through=block.last_seq)
            self.shelf.messages[place] = [message for message in rows if message not in messages]
            self.stored.setdefault(place, {})[block.first_seq] = block
            return True

    def keep_from(self, scope: Scope, conversation: Conversation, seq: int) -> bool:
        with self.faults.write("keep_from"):
            place = owned(scope, conversation.id)
            row = self.shelf.conversations.get(place)
            if not _is(row, conversation) or row.archived_through != conversation.archived_through:
                return False
            through = max(row.archived_through, seq - 1)
            self.shelf.conversations[place] = replace(
                row, kept_from=seq, archived_through=through, summarised_through=0
            )
            return True

    def drop_rows(self, scope: Scope, conversation_id: str, messages: Sequence[Message]) -> None:
        with self.faults.write("drop_rows"):
            place = owned(scope, conversation_id)
            self.shelf.messages[place] = [row for row in self.shelf.messages[place] if row not in messages]
            for message in messages:
                self.shelf.pointers.pop(owned(scope, message.id), None)

    def drop_block(self, scope: Scope, conversation_id: str, block: ArchiveBlock) -> None:
        with self.faults.write("drop_block"):
            del self.stored[owned(scope, conversation_id)][block.first_seq]

    def drop_files(self, scope: Scope, conversation_id: str) -> None:
        with self.faults.write("drop_files"):
            for place, users in list(self.files.items()):
                others = [one for one in users - {conversation_id} if owned(scope, one) in self.shelf.conversations]
                if place[:2] == (scope.org, scope.owner) and conversation_id in users and not others:
                    del self.files[place]

    def end(self, scope: Scope, conversation: Conversation) -> bool:
        with self.faults.write("end"):
            place = owned(scope, conversation.id)
            row = self.shelf.conversations.get(place)
            asked = ("incarnation", "next_seq", "updated_at", "open_turn")
            if row is None or any(getattr(row, name) != getattr(conversation, name) for name in asked):
                return False
            del self.shelf.conversations[place]
            return True


@dataclass
class ArchivingConversations(FakeConversations):
    """Conversations whose messages are read wherever they are, as `DynamoDbConversations` reads them."""

    archive: FakeArchive | None = None

    def messages(
        self, scope: Scope, conversation_id: str, *, after: int | None, limit: int, newest_first: bool
    ) -> Page[Message]:
        row = self.get(scope, conversation_id)
        if row is None or self.archive is None:
            return Page(())
        blocks = self.archive.stored.get(owned(scope, conversation_id), {}).values()
        shown = [block for block in blocks if block.last_seq >= row.kept_from]
        moved = [message for block in shown for message in self.archive.read(scope, block)]
        rows = [*moved, *self.shelf.messages.get(owned(scope, conversation_id), [])]
        kept = sorted((one for one in rows if one.seq >= row.kept_from), key=lambda one: one.seq, reverse=newest_first)
        rest = [one for one in kept if after is None or (one.seq < after if newest_first else one.seq > after)]
        return Page(tuple(rest[:limit]), str(rest[limit - 1].seq) if len(rest) > limit else None)


@dataclass
class FakeImports:
    """Implements `ImportStore`. What is written stands aside until it is finished."""

    shelf: Shelf
    blobs: FakeBlobs
    faults: Faults = field(default_factory=Faults)
    marks: dict[Owned, tuple[str, str]] = field(default_factory=dict)
    """The job and the incarnation of each conversation that is being written."""
    written: dict[Owned, dict[int, Message]] = field(default_factory=dict)
    interfere: Callable[[], object] | None = None
    """Called once before messages are written, as another worker or an erasure would be."""
    erased: dict[tuple[str, str], datetime] = field(default_factory=dict)
    """When everything of an owner was erased, by organisation and owner."""

    def taken(self, scope: Scope, message_ids: Sequence[str]) -> dict[str, str]:
        with self.faults.write("taken"):
            found = [self.shelf.pointers.get(owned(scope, message_id)) for message_id in message_ids]
            return {pointer.message_id: pointer.conversation_id for pointer in found if pointer}

    def begin(self, scope: Scope, conversation_id: str, job: Job, incarnation: str) -> str | None:
        with self.faults.write("begin"):
            place = owned(scope, conversation_id)
            erased_at = self.erased.get((scope.org, scope.owner))
            if place in self.shelf.conversations or (erased_at and erased_at >= job.created_at):
                return None
            holder, began = self.marks.get(place, (None, ""))
            if holder == job.record:
                return began
            self.marks[place] = (job.record or "", incarnation)
            self.written[place] = {}
            return incarnation

    def write_messages(
        self, scope: Scope, conversation_id: str, incarnation: str, messages: Sequence[Message], *, keep_days: int = 0
    ) -> bool:
        if self.interfere:
            interfere, self.interfere = self.interfere, None
            interfere()
        with self.faults.write("write_messages"):
            if not self._is_marked(scope, conversation_id, incarnation):
                return False
            for message in messages:
                if len(content := message.content.encode()) > BIG_BYTES:
                    self.blobs.put(scope, big_content(conversation_id, message.seq, content), content, "text/plain")
            self.written[owned(scope, conversation_id)] |= {message.seq: message for message in messages}
            return True

    def write_questions(
        self,
        scope: Scope,
        conversation_id: str,
        incarnation: str,
        questions: Sequence[AskedQuestion],
        *,
        keep_days: int = 0,
    ) -> bool:
        with self.faults.write("write_questions"):
            known = [self.shelf.pointers.get(owned(scope, one.pointer.message_id)) for one in questions]
            is_taken = any(one and one.conversation_id != conversation_id for one in known)
            if is_taken or not self._is_marked(scope, conversation_id, incarnation):
                return False
            for question in questions:
                place = owned(scope, question.pointer.message_id)
                self.shelf.pointers[place] = question.pointer
                self.shelf.answers[place] = {
                    revision: (seq, question.contexts.get(revision)) for revision, seq in question.answers.items()
                }
            return True

    def finish(self, scope: Scope, conversation: Conversation) -> bool:
        with self.faults.write("finish"):
            if not self._is_marked(scope, conversation.id, conversation.incarnation):
                return False
            place = owned(scope, conversation.id)
            del self.marks[place]
            self.shelf.conversations[place] = conversation
            self.shelf.messages[place] = [message for _, message in sorted(self.written.pop(place).items())]
            return True

    def _is_marked(self, scope: Scope, conversation_id: str, incarnation: str) -> bool:
        return self.marks.get(owned(scope, conversation_id), ("", ""))[1] == incarnation


@dataclass
class FakeAttachments:
    """Implements `AttachmentStore`."""

    rows: dict[Owned, Attachment] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)

    def put(self, scope: Scope, attachment: Attachment) -> None:
        with self.faults.write("put_attachment"):
            self.rows[owned(scope, attachment.id)] = attachment

    def get(self, scope: Scope, ids: Sequence[str]) -> dict[str, Attachment]:
        with self.faults.write("get_attachments"):
            return {one: self.rows[owned(scope, one)] for one in ids if owned(scope, one) in self.rows}

    def advance(self, scope: Scope, attachment: Attachment) -> bool:
        with self.faults.write("advance_attachment"):
            if owned(scope, attachment.id) not in self.rows:
                return False
            self.rows[owned(scope, attachment.id)] = attachment
            return True


def _is(row: Conversation | None, conversation: Conversation) -> TypeGuard[Conversation]:
    return row is not None and row.incarnation == conversation.incarnation
