"""Progress of each organisation's comparison with its index, in the documents' table."""

from __future__ import annotations

from typing import override

from fencepost.identity.domain.scope import Scope
from fencepost.jobs.domain.index_diff import DiffProgress
from fencepost.jobs.ports import ReconcileStore
from fencepost.jobs.rows import reconcile_row
from fencepost.kernel.aws.rows import from_item, to_item
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Table


class DynamoDbReconcileStore(ReconcileStore):
    """Implements `fencepost.jobs.ports.ReconcileStore`.

    Args:
        table: name of the documents' table.
        client: makes or returns the client; called at the first use.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client) -> None:
        self._table = Table(table, client)

    @override
    def progress(self, scope: Scope) -> DiffProgress:
        item = self._table.get(reconcile_row(scope))
        return from_item(DiffProgress, item) if item else DiffProgress()

    @override
    def keep(self, scope: Scope, progress: DiffProgress) -> None:
        self._table.put(to_item(progress) | reconcile_row(scope))
