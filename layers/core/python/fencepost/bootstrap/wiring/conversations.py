"""Wiring of the stores of conversations and of job records."""

from __future__ import annotations

from fencepost.bootstrap.stores import TenantStores
from fencepost.conversations.dynamodb.conversations import DynamoDbConversations
from fencepost.conversations.ports import ConversationStore
from fencepost.queue.ports import JobStore


def conversation_store(stores: TenantStores) -> ConversationStore:
    """Return the store of conversations."""
    return stores.build(lambda access: DynamoDbConversations(stores.table, stores.blobs_of(access), access.dynamodb))


def job_store(stores: TenantStores) -> JobStore:
    """Return the store of job records. Turns do without it, so it is imported here."""
    from fencepost.queue.dynamodb import DynamoDbJobStore

    return stores.build(lambda access: DynamoDbJobStore(stores.table, access.dynamodb))
