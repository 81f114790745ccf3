"""The writes of an erasure: rows in batches, and conversations together with their tombstones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import batched, islice

from fencepost.conversations.rows.messages import erased_row, gone_row, import_row
from fencepost.conversations.rows.models import ErasedRow, FileRow, TombstoneRow
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.rows import Item, Key
from fencepost.kernel.aws.session import ClientFactory
from fencepost.kernel.aws.table import Table
from fencepost.kernel.aws.transactions import Write
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.lifecycle.rows import ScannedRow
from fencepost.memory.rows import count_change, read_changes

TOMBSTONES_KEPT = timedelta(days=30)
"""Longer than anything waits in a queue or among its dead letters (14 days)."""

_CONCURRENCY = 8
_CONVERSATIONS_AT_ONCE = 50  # Two rows each: DynamoDB takes 100 rows in a transaction.
_FACTS_AT_ONCE = 99  # With the counter of changes: the same limit.
_ATTEMPTS = 32


class Removal:
    """Removes rows. All methods raise `FencepostError` with `conversations_unavailable`.

    Args:
        table: name of the conversations' table.
        client: makes or returns the client.
    """

    def __init__(self, table: str, client: ClientFactory) -> None:
        self._table = Table(table, client)

    def remove(self, rows: Sequence[Key]) -> None:
        """Delete rows, several batches at a time."""
        self._table.batch_write(deletes=rows, concurrency=_CONCURRENCY)

    def remove_facts(self, scope: Scope, find: Callable[[], Iterable[Key]]) -> int:
        """Delete the facts that `find` returns until it returns none.

        The counter of fact changes is incremented as well, so a change that was decided from the deleted facts is not
        stored: it would bring them back.

        Returns:
            The number of deleted facts.
        """
        removed = 0
        for _ in range(_ATTEMPTS):
            before = read_changes(self._table, scope)
            rows = list(islice(find(), _FACTS_AT_ONCE))
            if not rows:
                return removed
            counted = count_change(self._table, scope, before)
            removed += len(rows) if self._transact([counted, *map(self._table.delete_write, rows)]) else 0
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)

    def remove_unused(self, files: Sequence[Item]) -> int:
        """Delete rows of files, several at a time. A file that another conversation has used since stays.

        Args:
            files: key and `used_by` of each, as they were read.

        Returns:
            The number of deleted files.
        """

        def remove(file: Item) -> bool:
            unchanged = FileRow.used_by == set(file["used_by"]["SS"])
            return self._transact([self._table.delete_write(FileRow.key_of(file), condition=unchanged)])

        with ThreadPoolExecutor(_CONCURRENCY) as pool:
            return sum(pool.map(remove, files))

    def enqueue_removal(self, row: Key, now: datetime) -> bool:
        """Put a tombstone in the place of a conversation's row; False where there is no such row."""
        deleted = self._table.delete_write(row, condition=ScannedRow.pk.exists())
        return self._transact([deleted, self._tombstone(row, now)])

    def enqueue_removals(self, rows: Sequence[Key], now: datetime) -> None:
        """Put tombstones in the place of rows of conversations and imports, whether the rows are still there or not."""
        for some in batched(rows, _CONVERSATIONS_AT_ONCE, strict=False):
            self._transact([*map(self._table.delete_write, some), *(self._tombstone(row, now) for row in some)])

    def start_sweeping(self, scope: Scope, conversation_id: str) -> bool:
        """Prevent that a conversation is made under an erased one's id.

        Returns:
            False where the conversation was never erased, or has been made again, or an import is making it.
        """
        made = keys.conversation_row(scope, conversation_id), import_row(scope, conversation_id)
        marked = self._table.update_write(
            gone_row(scope, conversation_id), TombstoneRow.sweeping.set(True), condition=TombstoneRow.pk.exists()
        )
        return self._transact([marked, *(self._table.check_write(row, ScannedRow.pk.does_not_exist()) for row in made)])

    def finish_sweeping(self, scope: Scope, conversation_id: str) -> None:
        """Allow a conversation to be made under this id: nothing of the erased one is left."""
        tombstone = gone_row(scope, conversation_id)
        self._table.update(tombstone, TombstoneRow.sweeping.remove(), condition=TombstoneRow.pk.exists())

    def mark_owner(self, scope: Scope, now: datetime) -> None:
        """Store when everything of an owner was erased, unless a later time is stored already."""
        self._table.update(
            erased_row(scope),
            ErasedRow.erased_at.set(now),
            ErasedRow.expires_at.set(now + TOMBSTONES_KEPT),
            condition=ErasedRow.pk.does_not_exist() | (ErasedRow.erased_at < now),
        )

    def _transact(self, writes: Sequence[Write]) -> bool:
        """Write all or nothing; False where a condition did not hold."""
        numbered = {str(number): write for number, write in enumerate(writes)}
        return self._table.transact_with_retry(numbered) is None

    def _tombstone(self, row: Key, now: datetime) -> Write:
        _, _, conversation_id = row["sk"]["S"].partition("#")
        attributes: Item = {
            "sweeping": {"BOOL": True},
            "expires_at": {"N": str(int((now + TOMBSTONES_KEPT).timestamp()))},
        }
        key = TombstoneRow.key(row["pk"]["S"], f"gone#{conversation_id}")
        return self._table.put_write({**key, **attributes})
