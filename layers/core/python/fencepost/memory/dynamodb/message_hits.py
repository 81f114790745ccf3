"""Rows behind the message hits of a search, read in one batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import override

from fencepost.conversations.domain.messages import Message
from fencepost.conversations.rows import messages as conversations_keys
from fencepost.conversations.rows.messages import CONTENT_REF, read_conversation
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.rows import Item, Key, from_item
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Table
from fencepost.memory import rows as memory_keys
from fencepost.memory.ports import HitRows, MessageChunkPlace, MessageHits


class DynamoDbMessageHits(MessageHits):
    """Reads conversations, messages and chunks from the conversations' table.

    Args:
        table: name of the conversations' table.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client) -> None:
        self._table = Table(table, client)

    @override
    def hydrate(self, scope: Scope, wanted: Sequence[MessageChunkPlace]) -> HitRows:
        """Return the rows. Contents in S3 are not read: one batch of rows is one store operation."""
        conversations = {one: keys.conversation_row(scope, one) for one, _, _ in wanted}
        messages = {(one, seq): conversations_keys.message_row(scope, one, seq) for one, seq, _ in wanted}
        chunks = {place: memory_keys.chunk_row(scope, *place) for place in wanted}
        rows = [*conversations.values(), *messages.values(), *chunks.values()]
        found = {_identity(item): item for item in self._table.batch_get(rows)}
        stored = _found(messages, found)
        return HitRows(
            conversations={one: read_conversation(item) for one, item in _found(conversations, found).items()},
            messages={place: _message(item) for place, item in stored.items()},
            apart=frozenset(place for place, item in stored.items() if CONTENT_REF in item),
            chunks={
                place: memory_keys.read_chunk_without_vector(item) for place, item in _found(chunks, found).items()
            },
        )


def _found[Place](rows: Mapping[Place, Key], items: Mapping[tuple[str, str], Item]) -> dict[Place, Item]:
    """Return the items that were found under these keys."""
    return {place: items[_identity(row)] for place, row in rows.items() if _identity(row) in items}


def _message(item: Item) -> Message:
    return from_item(Message, {**item, "content": {"S": ""}} if CONTENT_REF in item else item)


def _identity(row: Item) -> tuple[str, str]:
    return row["pk"]["S"], row["sk"]["S"]
