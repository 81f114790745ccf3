"""How far the comparison of each organisation's tables with its index has come, in the corpus' table."""

from __future__ import annotations

from typing import override

from fencepost.documents import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.jobs.domain.index_diff import DiffProgress
from fencepost.jobs.ports import ReconcileStore
from fencepost.kernel.aws.legacy.client import OneTable, store_errors
from fencepost.kernel.aws.legacy.reading import get_row
from fencepost.kernel.aws.legacy.rows import from_item, to_item
from fencepost.kernel.errors import ErrorCode, FencepostError


class DynamoDbReconcileStore(OneTable, ReconcileStore):
    """Implements `fencepost.jobs.ports.ReconcileStore` in the corpus' table."""

    @override
    def progress(self, scope: Scope) -> DiffProgress:
        item = get_row(self._client(), self._table, keys.reconcile_row(scope))
        return from_item(DiffProgress, item) if item else DiffProgress()

    @override
    def keep(self, scope: Scope, progress: DiffProgress) -> None:
        try:
            self._client().put_item(TableName=self._table, Item=to_item(progress) | keys.reconcile_row(scope))
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
