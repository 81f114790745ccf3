"""The writes of an erasure: rows in batches, and conversations together with their tombstones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import batched, chain, islice
from typing import TYPE_CHECKING

from fencepost.conversations.rows import messages as conversations_keys
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.keys import Key
from fencepost.kernel.aws.legacy.client import ClientFactory, Item, store_errors, update
from fencepost.kernel.aws.legacy.rows import timestamp
from fencepost.kernel.aws.legacy.transactions import transact_with_retry
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.memory.rows import changes, one_more

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import (
        AttributeValueTypeDef,
        ConditionCheckTypeDef,
        DeleteTypeDef,
        TransactWriteItemTypeDef,
        WriteRequestTypeDef,
    )

TOMBSTONES_KEPT = timedelta(days=30)
"""Longer than anything waits in a queue or among its dead letters (14 days)."""

_BATCH = 25  # DynamoDB's own limit of `BatchWriteItem`.
_BATCHES_AT_ONCE = 8
_CONVERSATIONS_AT_ONCE = 50  # Two rows each: DynamoDB's own limit of a transaction is 100.
_FACTS_AT_ONCE = 99  # With the count of changes: the same limit.
_TRIES = 32


class Removal:
    """Removes rows. All methods raise `FencepostError` with `conversations_unavailable`.

    Args:
        table: name of the conversations' table.
        client: makes or returns the client.
    """

    def __init__(self, table: str, client: ClientFactory) -> None:
        self._table = table
        self._client = client

    def remove(self, rows: Sequence[Key]) -> None:
        """Delete rows, some batches at once."""
        with ThreadPoolExecutor(_BATCHES_AT_ONCE) as pool:
            # Waits for all of them; the first that failed raises.
            tuple(pool.map(self._delete, batched(rows, _BATCH, strict=False)))

    def remove_facts(self, scope: Scope, find: Callable[[], Iterable[Key]]) -> int:
        """Delete the facts that `find` returns until it returns none, and return how many there were.

        A change of facts that somebody worked out before cannot be stored any more: it would bring them back.
        """
        removed = 0
        for _ in range(_TRIES):
            before = changes(self._client(), self._table, scope)
            rows = list(islice(find(), _FACTS_AT_ONCE))
            if not rows:
                return removed
            writes = [one_more(self._table, scope, before), *map(self._deletion, rows)]
            removed += len(rows) if self._transact(writes) else 0
        raise _unavailable()

    def remove_unused(self, files: Sequence[Item]) -> int:
        """Delete rows of files, some at once, and return how many there were.

        Args:
            files: key and `used_by` of each. One that has come to be used by another conversation since stays.
        """
        with ThreadPoolExecutor(_BATCHES_AT_ONCE) as pool:
            return sum(pool.map(self._remove_unused, files))

    def enqueue_removal(self, row: Key, now: datetime) -> bool:
        """Put a tombstone in the place of a conversation's row; False where there is none."""
        return self._transact([self._deletion(row, "attribute_exists(pk)"), self._tombstone(row, now)])

    def bury_all(self, rows: Sequence[Key], now: datetime) -> None:
        """The same for rows of many conversations or of imports, whether they are still there or not."""
        for some in batched(rows, _CONVERSATIONS_AT_ONCE, strict=False):
            pairs = ((self._deletion(row), self._tombstone(row, now)) for row in some)
            self._transact([*chain.from_iterable(pairs)])

    def hold(self, scope: Scope, conversation_id: str) -> bool:
        """Keep a conversation of this id from being made; False where it never was buried, or comes back already."""
        held: TransactWriteItemTypeDef = {
            "Update": {
                "TableName": self._table,
                "Key": conversations_keys.gone_row(scope, conversation_id),
                "UpdateExpression": "SET sweeping = :true",
                "ConditionExpression": "attribute_exists(pk)",
                "ExpressionAttributeValues": {":true": {"BOOL": True}},
            }
        }
        made = keys.conversation_row(scope, conversation_id), conversations_keys.import_row(scope, conversation_id)
        return self._transact([held, *map(self._absence, made)])

    def let_go(self, scope: Scope, conversation_id: str) -> None:
        """Allow a conversation of this id to be made: nothing of the one before is left."""
        update(
            self._client(),
            {
                "TableName": self._table,
                "Key": conversations_keys.gone_row(scope, conversation_id),
                "UpdateExpression": "REMOVE sweeping",
                "ConditionExpression": "attribute_exists(pk)",
            },
            ErrorCode.CONVERSATIONS_UNAVAILABLE,
        )

    def mark_owner(self, scope: Scope, now: datetime) -> None:
        """Note when everything of an owner was erased. A later time that stands there already is left."""
        update(
            self._client(),
            {
                "TableName": self._table,
                "Key": conversations_keys.erased_row(scope),
                "UpdateExpression": "SET erased_at = :now, expires_at = :expiry",
                "ConditionExpression": "attribute_not_exists(pk) OR erased_at < :now",
                "ExpressionAttributeValues": {":now": {"S": timestamp(now)}, ":expiry": _expiry(now)},
            },
            ErrorCode.CONVERSATIONS_UNAVAILABLE,
        )

    def _remove_unused(self, file: Item) -> bool:
        unused = self._deletion({"pk": file["pk"], "sk": file["sk"]}, "used_by = :seen")
        unused["Delete"]["ExpressionAttributeValues"] = {":seen": file["used_by"]}
        return self._transact([unused])

    def _delete(self, rows: Sequence[Key]) -> None:
        pending = list(rows)
        try:
            for _ in range(_TRIES):
                requests: list[WriteRequestTypeDef] = [{"DeleteRequest": {"Key": row}} for row in pending]
                answer = self._client().batch_write_item(RequestItems={self._table: requests})
                unprocessed = answer["UnprocessedItems"].get(self._table, [])
                pending = [request["DeleteRequest"]["Key"] for request in unprocessed]
                if not pending:
                    return
        except store_errors():
            raise _unavailable() from None
        raise _unavailable()

    def _transact(self, writes: Sequence[TransactWriteItemTypeDef]) -> bool:
        """Write all or nothing; False where a condition did not hold."""
        return transact_with_retry(self._client(), {str(place): write for place, write in enumerate(writes)}) is None

    def _deletion(self, row: Key, condition: str | None = None) -> TransactWriteItemTypeDef:
        delete: DeleteTypeDef = {"TableName": self._table, "Key": row}
        if condition:
            delete["ConditionExpression"] = condition
        return {"Delete": delete}

    def _absence(self, row: Key) -> TransactWriteItemTypeDef:
        check: ConditionCheckTypeDef = {
            "TableName": self._table,
            "Key": row,
            "ConditionExpression": "attribute_not_exists(pk)",
        }
        return {"ConditionCheck": check}

    def _tombstone(self, row: Key, now: datetime) -> TransactWriteItemTypeDef:
        _, _, conversation_id = row["sk"]["S"].partition("#")
        stone: Item = {"pk": row["pk"], "sk": {"S": f"gone#{conversation_id}"}}
        item = {**stone, "sweeping": {"BOOL": True}, "expires_at": _expiry(now)}
        return {"Put": {"TableName": self._table, "Item": item}}


def _expiry(now: datetime) -> AttributeValueTypeDef:
    return {"N": str(int((now + TOMBSTONES_KEPT).timestamp()))}


def _unavailable() -> FencepostError:
    return FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
