"""Archived messages, read out of their blocks in S3."""

from __future__ import annotations

from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.archives import ArchiveBlock, DamagedBlock, unpack
from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.conversations.rows.models import BlockRow
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.rows import from_item
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Table
from fencepost.kernel.errors import ErrorCode, FencepostError


class ArchivedMessages:
    """Reads messages out of blocks.

    Args:
        table: name of the conversations' table.
        blobs: the store of the blocks.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, blobs: BlobStore, client: ClientFactory = dynamodb_client) -> None:
        self._table = Table(table, client)
        self._blobs = blobs

    def blocks(self, scope: Scope, conversation_id: str) -> tuple[ArchiveBlock, ...]:
        """Return the blocks of a conversation, oldest first."""
        here = BlockRow.pk == keys.conversation(scope, conversation_id)
        items = self._table.query(here & BlockRow.sk.startswith("block#"))
        return tuple(from_item(ArchiveBlock, item) for item in items)

    def block_messages(self, scope: Scope, block: ArchiveBlock) -> tuple[Message, ...]:
        """Return the messages of a block, checked against its digest.

        Raises:
            FencepostError: `conversations_unavailable`; the block cannot be read or is damaged.
        """
        content = self._blobs.get(scope, block.object)
        try:
            return unpack(block, content or b"")
        except DamagedBlock:
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None

    def read(
        self, scope: Scope, conversation: Conversation, *, after: int | None, limit: int, newest_first: bool
    ) -> tuple[Message, ...]:
        """Return archived messages in either direction, starting next to the `seq` given as `after`.

        Call this after reading the rows: a message that moves to a block in between is then in both answers, and
        never in neither.

        Raises:
            FencepostError: `conversations_unavailable`; a block cannot be read or is damaged.
        """
        kept_from = conversation.kept_from
        # Numbers from `low` to `high` are wanted; there is no upper bound where `high` is None.
        low = kept_from if newest_first else max(kept_from, (after or 0) + 1)
        high = after - 1 if newest_first and after is not None else None
        found: list[Message] = []
        blocks = self.blocks(scope, conversation.id)
        for block in reversed(blocks) if newest_first else blocks:
            if len(found) < limit and block.last_seq >= low and (high is None or block.first_seq <= high):
                messages = self.block_messages(scope, block)
                wanted = [one for one in messages if one.seq >= low and (high is None or one.seq <= high)]
                found += reversed(wanted) if newest_first else wanted
        return tuple(found[:limit])
