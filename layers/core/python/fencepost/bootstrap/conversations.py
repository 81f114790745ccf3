"""Wiring of conversations outside of turns."""

from __future__ import annotations

from fencepost.bootstrap.stores import TenantStores
from fencepost.conversations.dynamodb.conversations import DynamoDbConversations
from fencepost.conversations.ports import ConversationStore


def conversation_store(stores: TenantStores) -> ConversationStore:
    """Return the store of conversations."""
    return stores.build(lambda access: DynamoDbConversations(stores.table, stores.blobs_of(access), access.dynamodb))
