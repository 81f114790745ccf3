"""The rows that hits of messages lead to, in one batch: conversations, messages and parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import override

from fencepost.conversations.domain.messages import Message
from fencepost.conversations.rows import messages as conversations_keys
from fencepost.conversations.rows.messages import CONTENT_REF, read_conversation
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws import keys as aws_keys
from fencepost.kernel.aws.legacy.batches import read_rows
from fencepost.kernel.aws.legacy.client import Item, OneTable
from fencepost.kernel.aws.legacy.rows import from_item
from fencepost.memory import rows as memory_keys
from fencepost.memory.ports import HitRows, MessageChunkPlace, MessageHits
from fencepost.memory.rows import read_place


class DynamoDbMessageHits(OneTable, MessageHits):
    """Implements `fencepost.memory.ports.MessageHits` in the conversations' table."""

    @override
    def hydrate(self, scope: Scope, wanted: Sequence[MessageChunkPlace]) -> HitRows:
        """What stands in S3 is left there: a batch of rows is one step."""
        talks = {one: keys.conversation_row(scope, one) for one, _, _ in wanted}
        said = {(one, seq): conversations_keys.message_row(scope, one, seq) for one, seq, _ in wanted}
        parts = {place: memory_keys.part_row(scope, *place) for place in wanted}
        found = self._found([*talks.values(), *said.values(), *parts.values()])
        messages = _those(said, found)
        return HitRows(
            conversations={one: read_conversation(item) for one, item in _those(talks, found).items()},
            messages={place: _message(item) for place, item in messages.items()},
            apart=frozenset(place for place, item in messages.items() if CONTENT_REF in item),
            parts={place: read_place(item) for place, item in _those(parts, found).items()},
        )

    def _found(self, rows: Sequence[aws_keys.Key]) -> dict[tuple[str, str], Item]:
        items = read_rows(self._client(), self._table, rows)
        return {_identity(item): item for item in items}


def _those[Place](rows: Mapping[Place, aws_keys.Key], found: Mapping[tuple[str, str], Item]) -> dict[Place, Item]:
    """Return the items that were found of these rows."""
    return {place: found[_identity(row)] for place, row in rows.items() if _identity(row) in found}


def _message(item: Item) -> Message:
    return from_item(Message, {**item, "content": {"S": ""}} if CONTENT_REF in item else item)


def _identity(row: Item) -> tuple[str, str]:
    return row["pk"]["S"], row["sk"]["S"]
