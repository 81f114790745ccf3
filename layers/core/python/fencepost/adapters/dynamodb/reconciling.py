"""How far the comparison of each organisation's tables with its index has come, in the corpus' table."""

from __future__ import annotations

from fencepost.adapters.dynamodb import corpus_keys as keys
from fencepost.adapters.dynamodb.client import OneTable, store_errors
from fencepost.adapters.dynamodb.reading import get_row
from fencepost.adapters.dynamodb.rows import from_item, to_item
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.identity import Scope
from fencepost.domain.reconciling import Progress


class DynamoDbReconcileStore(OneTable):
    """Implements `fencepost.ports.ReconcileStore` in the corpus' table."""

    def progress(self, scope: Scope) -> Progress:
        """See `fencepost.ports.ReconcileStore`."""
        item = get_row(self._client(), self._table, keys.reconcile_row(scope))
        return from_item(Progress, item) if item else Progress()

    def keep(self, scope: Scope, progress: Progress) -> None:
        """See `fencepost.ports.ReconcileStore`."""
        try:
            self._client().put_item(TableName=self._table, Item=to_item(progress) | keys.reconcile_row(scope))
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
