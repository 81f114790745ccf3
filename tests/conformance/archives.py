"""Conformance tests of every `ArchiveStore`: messages move into blocks, and go when retention ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import uuid4

import pytest

from fencepost.blobs.domain import block as block_name
from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.archives import BLOCK_MESSAGES, ArchiveBlock, describe, pack
from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.conversations.ports import ConversationStore
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import FencepostError
from fencepost.lifecycle.ports import ArchiveStore
from tests.conformance.backdrop import CLOCK, Backdrop
from tests.conformance.samples import visitor_scope
from tests.worlds import api as api_world


def stored_block(blobs: BlobStore, scope: Scope, messages: Sequence[Message]) -> ArchiveBlock:
    """Store a block's object, and return its description."""
    content = pack(messages)
    name = block_name("c1", messages[0].seq, content)
    blobs.put(scope, name, content, "application/gzip")
    return describe(name, content, messages)


class ArchiveConformance:
    """The tests. A subclass provides `subject`, `blobs`, `conversations`, `backdrop` and `broken`."""

    @pytest.fixture
    def scope(self) -> Scope:
        return visitor_scope(visitor=uuid4().hex)

    @pytest.fixture
    def row(self, backdrop: Backdrop, scope: Scope) -> Conversation:
        """Return a conversation with thirty turns."""
        return backdrop.converse(scope, "c1", 30, summarised_through=4)

    def test_an_expired_conversation_is_returned(self, subject: ArchiveStore, backdrop: Backdrop, scope: Scope) -> None:
        row = backdrop.converse(scope, "c1", 1, keep_days=1)
        assert subject.conversation(scope, "c1") == row
        assert subject.conversation(scope, "absent") is None

    def test_rows_are_read_oldest_first_after_a_number(
        self, subject: ArchiveStore, scope: Scope, row: Conversation
    ) -> None:
        found = subject.rows(scope, row.id, after=10, limit=3)
        assert found == (*api_world.exchange("c1", 6, CLOCK), api_world.exchange("c1", 7, CLOCK)[0])
        assert [message.seq for message in subject.rows(scope, row.id, after=58, limit=9)] == [59, 60]

    def test_a_block_takes_the_place_of_its_rows(
        self, subject: ArchiveStore, blobs: BlobStore, scope: Scope, row: Conversation
    ) -> None:
        messages = subject.rows(scope, "c1", after=0, limit=BLOCK_MESSAGES)
        block = stored_block(blobs, scope, messages)
        assert subject.blocks(scope, "c1") == ()
        assert subject.move(scope, row, block, messages)
        assert subject.blocks(scope, "c1") == (block,)
        assert subject.read(scope, block) == messages
        assert [message.seq for message in subject.rows(scope, "c1", after=0, limit=99)] == list(range(51, 61))
        assert subject.conversation(scope, "c1") == replace(row, archived_through=50)
        assert not subject.move(scope, row, block, messages)

    def test_nothing_moves_that_is_not_as_it_was_read(
        self, subject: ArchiveStore, blobs: BlobStore, scope: Scope, row: Conversation
    ) -> None:
        messages = subject.rows(scope, "c1", after=0, limit=BLOCK_MESSAGES)
        block = stored_block(blobs, scope, messages)
        assert not subject.move(scope, replace(row, incarnation="another"), block, messages)
        assert not subject.move(scope, row, block, [replace(messages[0], rating="up"), *messages[1:]])
        assert subject.blocks(scope, "c1") == ()
        assert subject.rows(scope, "c1", after=0, limit=BLOCK_MESSAGES) == messages
        assert subject.conversation(scope, "c1") == row

    def test_a_missing_or_damaged_block_is_unavailable(
        self, subject: ArchiveStore, blobs: BlobStore, scope: Scope, row: Conversation
    ) -> None:
        block = stored_block(blobs, scope, subject.rows(scope, row.id, after=0, limit=4))
        blobs.put(scope, block.object, b"damaged", "application/gzip")
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            subject.read(scope, block)
        blobs.delete(scope, "")
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            subject.read(scope, block)

    def test_messages_below_the_kept_number_are_not_shown(
        self, subject: ArchiveStore, conversations: ConversationStore, scope: Scope, row: Conversation
    ) -> None:
        assert not subject.keep_from(scope, replace(row, incarnation="another"), 9)
        assert subject.keep_from(scope, row, 9)
        kept = replace(row, kept_from=9, archived_through=8, summarised_through=0)
        assert subject.conversation(scope, "c1") == kept
        assert conversations.messages(scope, "c1", after=None, limit=1, newest_first=False).items[0].seq == 9
        assert not subject.keep_from(scope, row, 11)
        assert not subject.keep_from(scope, replace(row, id="absent"), 9)

    def test_dropped_rows_go_with_their_pointers(
        self, subject: ArchiveStore, conversations: ConversationStore, scope: Scope, row: Conversation
    ) -> None:
        subject.drop_rows(scope, row.id, subject.rows(scope, "c1", after=0, limit=4))
        assert subject.rows(scope, "c1", after=0, limit=1)[0].seq == 5
        found = [conversations.pointer(scope, name) is not None for name in ("c1-1", "c1-2", "c1-3")]
        assert found == [False, False, True]

    def test_a_dropped_block_is_not_listed(
        self, subject: ArchiveStore, blobs: BlobStore, scope: Scope, row: Conversation
    ) -> None:
        messages = subject.rows(scope, "c1", after=0, limit=BLOCK_MESSAGES)
        block = stored_block(blobs, scope, messages)
        assert subject.move(scope, row, block, messages)
        subject.drop_block(scope, "c1", block)
        assert subject.blocks(scope, "c1") == ()

    def test_files_go_with_the_last_conversation_that_used_them(
        self, subject: ArchiveStore, backdrop: Backdrop, scope: Scope, row: Conversation
    ) -> None:
        backdrop.begin(scope, id="c2")
        for file_id, users in {"own": ["c1"], "shared": ["c1", "c2"], "former": ["c1", "gone"], "unused": []}.items():
            backdrop.put_file(scope, file_id, *users)
        subject.drop_files(scope, row.id)
        left = [file_id for file_id in ("own", "shared", "former", "unused") if _is_there(backdrop, scope, file_id)]
        assert left == ["shared", "unused"]

    def test_a_conversation_ends_while_it_is_as_it_was_read(
        self, subject: ArchiveStore, scope: Scope, row: Conversation
    ) -> None:
        for changes in ({"incarnation": "another"}, {"next_seq": 99}, {"id": "absent"}):
            assert not subject.end(scope, replace(row, **changes))
        assert subject.conversation(scope, "c1") == row
        assert subject.end(scope, row)
        assert subject.conversation(scope, "c1") is None
        assert not subject.end(scope, row)

    @pytest.mark.parametrize(
        "call",
        [
            lambda store, scope, _: store.conversation(scope, "c1"),
            lambda store, scope, _: store.rows(scope, "c1", after=0, limit=1),
            lambda store, scope, _: store.blocks(scope, "c1"),
            lambda store, scope, row: store.keep_from(scope, row, 2),
            lambda store, scope, _: store.drop_rows(scope, "c1", api_world.exchange("c1", 1, CLOCK)),
            lambda store, scope, _: store.drop_files(scope, "c1"),
            lambda store, scope, row: store.end(scope, row),
        ],
    )
    def test_an_unreachable_store_raises_one_error(
        self,
        broken: ArchiveStore,
        scope: Scope,
        call: Callable[[ArchiveStore, Scope, Conversation], object],
    ) -> None:
        with pytest.raises(FencepostError, match=r"^conversations_unavailable$"):
            call(broken, scope, api_world.conversation("c1", 1, CLOCK))


def _is_there(backdrop: Backdrop, scope: Scope, file_id: str) -> bool:
    return backdrop.file_users(scope, file_id) is not None
