"""Wiring of memory: facts, summaries, and messages' entries in the index."""

from __future__ import annotations

from fencepost.bootstrap.stores import TenantStores
from fencepost.memory.dynamodb.chunks import DynamoDbMessageChunks
from fencepost.memory.dynamodb.memory import DynamoDbMemoryStore
from fencepost.memory.ports import MemoryStore, MessageChunkStore


def memory_store(stores: TenantStores) -> MemoryStore:
    """Return the store of facts and summaries."""
    return stores.build(lambda access: DynamoDbMemoryStore(stores.table, access.dynamodb))


def message_chunk_store(stores: TenantStores) -> MessageChunkStore:
    """Return the store of the chunks that the index holds of messages."""
    return stores.build(lambda access: DynamoDbMessageChunks(stores.table, access.dynamodb))
