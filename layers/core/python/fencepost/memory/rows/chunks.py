"""Rows of messages' parts as items, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.legacy.client import Item
from fencepost.kernel.aws.legacy.rows import from_item, to_item
from fencepost.memory.domain.chunk_rows import MessageChunkRow
from fencepost.memory.rows import keys as memory_keys
from fencepost.retrieval.rows import pack, unpack

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

_VECTOR: Final = "vector"


def part_item(scope: Scope, conversation_id: str, row: MessageChunkRow) -> dict[str, AttributeValueTypeDef]:
    """Return a part's item. Its vector is packed as a chunk's is, in a quarter of the room."""
    fields = {name: content for name, content in to_item(replace(row, vector=())).items() if name != _VECTOR}
    return {
        **fields,
        **memory_keys.part_row(scope, conversation_id, row.seq, row.number),
        _VECTOR: {"B": pack(row.vector)},
    }


def read_place(item: Item) -> MessageChunkRow:
    """Return the part that an item holds, without its vector."""
    return from_item(MessageChunkRow, {name: content for name, content in item.items() if name != _VECTOR})


def read_part(item: Item) -> MessageChunkRow:
    """Return the part that an item holds."""
    return replace(read_place(item), vector=unpack(item[_VECTOR]["B"]))
