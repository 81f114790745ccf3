"""Rows of facts, summaries and message chunks in the conversations' table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pynamodb.attributes import BinaryAttribute, BooleanAttribute, NumberAttribute, UnicodeAttribute

from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import FactState
from fencepost.identity.rows import conversation, owner
from fencepost.kernel.aws.rows import Item, Key, Row, from_item, number, to_item
from fencepost.kernel.aws.table import Table
from fencepost.kernel.aws.transactions import Write
from fencepost.kernel.ids import quoted
from fencepost.memory.domain.chunk_rows import MessageChunkRow
from fencepost.retrieval.rows import pack, unpack

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

SUMMARY = "summary"
"""Sort key of a conversation's rolling summary."""


class FactRow(Row):
    """A fact: all fields of `Fact`. Written by `DynamoDbMemoryStore`; no TTL.

    A fact that changes its state moves to another sort key in one transaction.
    """

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#own#<owner>
    sk = UnicodeAttribute(range_key=True)  # fact#<state>#<id>


class FactChangesRow(Row):
    """How often an owner's facts have changed. Written in each transaction that changes facts; no TTL."""

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#own#<owner>
    sk = UnicodeAttribute(range_key=True)  # work#facts
    changes = NumberAttribute()


class SummaryRow(Row):
    """A conversation's rolling summary: all fields of `Summary`. No TTL.

    Written by `DynamoDbMemoryStore`, and by `DynamoDbCarryStore`, which approves a summary and copies it into a new
    conversation.
    """

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#own#<owner>#conv#<id>
    sk = UnicodeAttribute(range_key=True)  # summary
    id = UnicodeAttribute()
    approved = BooleanAttribute()


class MessageChunkItem(Row):
    """A message chunk in the vector index: all fields of `MessageChunkRow`. Written by `DynamoDbMessageChunks`; no TTL.

    The vector is packed in half precision, which takes a quarter of the space of a list of numbers.
    """

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#own#<owner>#conv#<id>
    sk = UnicodeAttribute(range_key=True)  # vec#<seq, 12 digits>#<number, 6 digits>
    vector = BinaryAttribute(legacy_encoding=False)


class RememberedRow(Row):
    """A row `work#remember` as the global index `remembered` lists it. Written by `DynamoDbJobStore` alone."""

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#own#<owner>#conv#<id>
    sk = UnicodeAttribute(range_key=True)  # work#remember
    remembered = UnicodeAttribute()  # org#<org>#, the partition of the index


def fact_row(scope: Scope, state: FactState, fact_id: str) -> Key:
    """Return the key of a fact."""
    return FactRow.key(owner(scope), f"{fact_prefix(state)}{quoted(fact_id)}")


def fact_prefix(state: FactState) -> str:
    """Return the prefix of the sort keys of facts in a state."""
    return f"fact#{state}#"


def facts_row(scope: Scope) -> Key:
    """Return the key of the counter of an owner's fact changes."""
    return FactChangesRow.key(owner(scope), "work#facts")


def summary_row(scope: Scope, conversation_id: str) -> Key:
    """Return the key of a conversation's rolling summary."""
    return SummaryRow.key(conversation(scope, conversation_id), SUMMARY)


def chunk_row(scope: Scope, conversation_id: str, seq: int, number: int) -> Key:
    """Return the key of a message chunk.

    Args:
        scope: the owner's.
        conversation_id: id of the conversation.
        seq: number of the message in the conversation.
        number: number of the chunk in the message, from 0.
    """
    return MessageChunkItem.key(conversation(scope, conversation_id), f"{chunk_prefix(seq)}{number:06d}")


def chunk_prefix(seq: int) -> str:
    """Return the prefix of the sort keys of a message's chunks."""
    return f"vec#{seq:012d}#"


def chunk_range(first: int, last: int | None) -> tuple[str, str]:
    """Return the bounds, both included, of the sort keys of the chunks of messages from `first` to `last`.

    None stands for the last message of the conversation.
    """
    through = "vec#" if last is None else chunk_prefix(last)
    # `$` follows `#`.
    return chunk_prefix(first), f"{through.removesuffix('#')}$"


def chunk_item(scope: Scope, conversation_id: str, row: MessageChunkRow) -> dict[str, AttributeValueTypeDef]:
    """Return the item of a message chunk."""
    fields = to_item(replace(row, vector=())) | chunk_row(scope, conversation_id, row.seq, row.number)
    return fields | {MessageChunkItem.vector.attr_name: {"B": pack(row.vector)}}


def read_chunk_without_vector(item: Item) -> MessageChunkRow:
    """Return the message chunk that an item holds, without its vector."""
    vector = MessageChunkItem.vector.attr_name
    return from_item(MessageChunkRow, {name: content for name, content in item.items() if name != vector})


def read_chunk(item: Item) -> MessageChunkRow:
    """Return the message chunk that an item holds."""
    packed = item[MessageChunkItem.vector.attr_name]["B"]
    return replace(read_chunk_without_vector(item), vector=unpack(packed))


def read_changes(table: Table, scope: Scope) -> int:
    """Return how often an owner's facts have changed. Read it before the facts that a change is decided from.

    Raises:
        FencepostError: `conversations_unavailable`.
    """
    return number(table.get(facts_row(scope)) or {}, FactChangesRow.changes.attr_name)


def count_change(table: Table, scope: Scope, before: int) -> Write:
    """Return the write that increments the counter of fact changes if it still is `before`."""
    unchanged = FactChangesRow.changes == before if before else FactChangesRow.pk.does_not_exist()
    return table.update_write(facts_row(scope), FactChangesRow.changes.set(before + 1), condition=unchanged)
