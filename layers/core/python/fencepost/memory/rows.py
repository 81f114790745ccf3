"""Rows of messages' parts as items, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import FactState
from fencepost.identity.rows import conversation, owner
from fencepost.kernel.aws.keys import Key, key
from fencepost.kernel.aws.legacy.client import Item, number
from fencepost.kernel.aws.legacy.reading import get_row
from fencepost.kernel.aws.legacy.rows import attribute, from_item, to_item
from fencepost.kernel.ids import quoted
from fencepost.memory.domain.chunk_rows import MessageChunkRow
from fencepost.retrieval.rows import pack, unpack

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, TransactWriteItemTypeDef


_VECTOR: Final = "vector"


def part_item(scope: Scope, conversation_id: str, row: MessageChunkRow) -> dict[str, AttributeValueTypeDef]:
    """Return a part's item. Its vector is packed as a chunk's is, in a quarter of the room."""
    fields = {name: content for name, content in to_item(replace(row, vector=())).items() if name != _VECTOR}
    return {
        **fields,
        **part_row(scope, conversation_id, row.seq, row.number),
        _VECTOR: {"B": pack(row.vector)},
    }


def read_place(item: Item) -> MessageChunkRow:
    """Return the part that an item holds, without its vector."""
    return from_item(MessageChunkRow, {name: content for name, content in item.items() if name != _VECTOR})


def read_part(item: Item) -> MessageChunkRow:
    """Return the part that an item holds."""
    return replace(read_place(item), vector=unpack(item[_VECTOR]["B"]))


def changes(client: DynamoDBClient, table: str, scope: Scope) -> int:
    """Return the count as it is. Facts are read after it.

    Raises:
        FencepostError: `conversations_unavailable`.
    """
    return number(get_row(client, table, facts_row(scope)) or {}, "changes")


def one_more(table: str, scope: Scope, before: int) -> TransactWriteItemTypeDef:
    """Return the write that counts one up, on condition that nobody else has since."""
    values = {":next": attribute(before + 1), **({":before": attribute(before)} if before else {})}
    return {
        "Update": {
            "TableName": table,
            "Key": facts_row(scope),
            "UpdateExpression": "SET changes = :next",
            "ConditionExpression": "changes = :before" if before else "attribute_not_exists(pk)",
            "ExpressionAttributeValues": values,
        }
    }


SUMMARY = "summary"
FACTS = "work#facts"
PARTS = "vec#"


def fact_row(scope: Scope, state: FactState, fact_id: str) -> Key:
    """Return the key of a fact."""
    return key(owner(scope), f"fact#{state}#{quoted(fact_id)}")


def summary_row(scope: Scope, conversation_id: str) -> Key:
    """Return the key of a conversation's rolling summary."""
    return key(conversation(scope, conversation_id), SUMMARY)


def facts_row(scope: Scope) -> Key:
    """Return the key of the count of an owner's changes of facts."""
    return key(owner(scope), FACTS)


def part_row(scope: Scope, conversation_id: str, seq: int, number: int) -> Key:
    """Return the key of a message's part in the index."""
    return key(conversation(scope, conversation_id), f"{part_sort(seq)}{number:06d}")


def part_sort(seq: int) -> str:
    """Return what the sort keys of a message's parts begin with."""
    return f"{PARTS}{seq:012d}#"
