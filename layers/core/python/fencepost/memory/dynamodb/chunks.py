"""Message chunks in the vector index: one row a chunk, in the partition of its conversation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import batched
from typing import Final, override

from fencepost.conversations.domain.messages import Conversation
from fencepost.conversations.rows.models import ConversationRow
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Table
from fencepost.kernel.paging import Page
from fencepost.memory.domain.chunk_rows import MessageChunkRow
from fencepost.memory.ports import MessageChunkStore, RememberedConversations
from fencepost.memory.rows import MessageChunkItem, RememberedRow, chunk_item, chunk_range, chunk_row, read_chunk
from fencepost.queue.domain import Purpose

ROWS_AT_ONCE: Final = 99
"""With the check of the conversation's row: DynamoDB takes 100 rows in a transaction."""


class DynamoDbMessageChunks(MessageChunkStore):
    """Stores message chunks.

    Args:
        table: name of the conversations' table.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client) -> None:
        self._table = Table(table, client)

    @override
    def chunks(
        self, scope: Scope, conversation_id: str, *, first: int = 1, last: int | None = None
    ) -> tuple[MessageChunkRow, ...]:
        partition = MessageChunkItem.pk == keys.conversation(scope, conversation_id)
        rows = self._table.query(partition & MessageChunkItem.sk.between(*chunk_range(first, last)))
        return tuple(map(read_chunk, rows))

    @override
    def put_chunks(self, scope: Scope, conversation: Conversation, rows: Sequence[MessageChunkRow]) -> bool:
        """Write the rows in transactions of `ROWS_AT_ONCE`; stop at the first that is refused."""
        return all(
            self._put(scope, conversation, transaction) for transaction in batched(rows, ROWS_AT_ONCE, strict=False)
        )

    @override
    def drop_chunks(self, scope: Scope, conversation_id: str, rows: Sequence[MessageChunkRow]) -> None:
        self._table.batch_write(deletes=(chunk_row(scope, conversation_id, row.seq, row.number) for row in rows))

    def _put(self, scope: Scope, conversation: Conversation, rows: Sequence[MessageChunkRow]) -> bool:
        """Write rows if the conversation is the same one and retention has reached none of their messages."""
        same = ConversationRow.incarnation == conversation.incarnation
        kept = ConversationRow.kept_from <= min(row.seq for row in rows)
        check = self._table.check_write(keys.conversation_row(scope, conversation.id), same & kept)
        puts = {row.chunk: self._table.put_write(chunk_item(scope, conversation.id, row)) for row in rows}
        return self._table.transact_with_retry({"conversation": check, **puts}) is None


class DynamoDbRememberedConversations(RememberedConversations):
    """Lists remembered conversations from a global index, which may be seconds behind the table.

    Args:
        table: name of the conversations' table.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client) -> None:
        self._table = Table(table, client)

    @override
    def conversations(self, scope: Scope, *, after: str | None, limit: int) -> Page[tuple[str, str]]:
        org = keys.organisation(scope.org)
        start = None
        if after is not None:
            start = RememberedRow.key(after, f"work#{Purpose.REMEMBER}") | {keys.REMEMBERED: {"S": org}}
        page = self._table.query_page(
            RememberedRow.remembered == org, limit=limit, start=start, index=keys.REMEMBERED, consistent=False
        )
        last = page.next_key["pk"]["S"] if page.next_key else None
        return Page(tuple(keys.conversation_of(item["pk"]["S"]) for item in page.items), last)
