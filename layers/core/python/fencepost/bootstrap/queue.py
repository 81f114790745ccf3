"""Wiring of job records."""

from __future__ import annotations

from fencepost.bootstrap.stores import TenantStores
from fencepost.queue.dynamodb import DynamoDbJobStore
from fencepost.queue.ports import JobStore


def job_store(stores: TenantStores) -> JobStore:
    """Return the store of job records."""
    return stores.build(lambda access: DynamoDbJobStore(stores.table, access.dynamodb))
