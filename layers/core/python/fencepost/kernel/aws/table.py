"""Reads, writes, batches and transactions of DynamoDB tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import batched, chain, islice
from typing import Any, Final, TypedDict, Unpack, cast

from botocore.exceptions import ClientError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from fencepost.kernel.aws.batches import READ_AT_ONCE, WRITTEN_AT_ONCE, read_batch, write_batch
from fencepost.kernel.aws.calls import Calls, Observer, Operation, RetryPolicy
from fencepost.kernel.aws.expressions import Selected, expression_fields
from fencepost.kernel.aws.rows import Item, Key
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.transactions import Cancelled, Write, transact_once
from fencepost.kernel.errors import ErrorCode

_CONCURRENT_READS: Final = 8


@dataclass(frozen=True, slots=True)
class Refused:
    """The condition of a write failed on the row `item`; empty if there was no row."""

    item: Item


@dataclass(frozen=True, slots=True)
class QueryPage:
    """A page of a query, at most 1 MB. `next_key` is the key after which the next page begins; None at the end."""

    items: Sequence[Item]
    next_key: Key | None


class QueryOptions(TypedDict, total=False):
    """Options of a query.

    Attributes:
        filtered: condition of the rows to return. DynamoDB reads and bills the others, too.
        limit: greatest number of rows to yield, and to read in one request.
        start: key after which to begin, from `Page.next_key`.
        descending: whether to begin with the highest sort key.
        index: name of an index to query.
        consistent: True by default; must be False for a global index.
    """

    filtered: Condition | None
    limit: int | None
    start: Key | None
    descending: bool
    index: str | None
    consistent: bool


class Table:
    """A table of DynamoDB. Reads are consistent by default.

    All methods raise `FencepostError` with the code `failure` if DynamoDB does not answer or reports an error, or if
    the request is still throttled or in conflict at the deadline of `retries`. A write may have happened all the same.

    Args:
        name: name of the table.
        client: makes or returns the client, for example of a tenant's session.
        failure: code of errors.
        retries: policy for conflicts, throttling and unprocessed items.
        observer: called with the capacity that each request consumed.

    Example:
        days = Table("limits")
        answer = days.update(DayRow.key("day#1"), DayRow.calls.add(1), condition=DayRow.calls < 100)
        if isinstance(answer, Refused):
            print("full", answer.item)
    """

    def __init__(
        self,
        name: str,
        client: ClientFactory = dynamodb_client,
        failure: ErrorCode = ErrorCode.CONVERSATIONS_UNAVAILABLE,
        *,
        retries: RetryPolicy = RetryPolicy(),  # noqa: B008 - frozen
        observer: Observer | None = None,
    ) -> None:
        self.name = name
        self._calls = Calls(client, failure, retries, observer)

    def get(self, key: Key, *projection: Selected, consistent: bool = True) -> Item | None:
        """Return a row, or the attributes of a projection; None if there is no row."""
        request = {"TableName": self.name, "Key": key, "ConsistentRead": consistent}
        answer = self._calls.send("get_item", self.name, request | expression_fields(projection=projection))
        return answer.get("Item")

    def put(self, item: Item, *, condition: Condition | None = None) -> Refused | None:
        """Store a row, replacing any row with the same key."""
        answer = self._conditional("put_item", self._put(item, condition))
        return answer if isinstance(answer, Refused) else None

    def update(
        self, key: Key, *actions: Action, condition: Condition | None = None, whole: bool = False
    ) -> Item | Refused:
        """Update a row, or create it if there is none.

        Returns:
            The attributes that the actions wrote, or with `whole` all attributes of the row; `Refused` with the row
            that the condition failed on.
        """
        request = self._update(key, actions, condition) | {"ReturnValues": "ALL_NEW" if whole else "UPDATED_NEW"}
        answer = self._conditional("update_item", request)
        return answer if isinstance(answer, Refused) else answer.get("Attributes", {})

    def delete(self, key: Key, *, condition: Condition | None = None) -> Refused | None:
        """Delete a row, if there is one."""
        answer = self._conditional("delete_item", self._by_key(key, condition))
        return answer if isinstance(answer, Refused) else None

    def query(self, key: Condition, *projection: Selected, **options: Unpack[QueryOptions]) -> Iterator[Item]:
        """Yield the rows of a partition. Pages are read as rows are consumed.

        Args:
            key: condition of the partition key, and optionally of the sort key.
            projection: attributes to return; all by default.
            options: see `QueryOptions`.
        """
        pages = self._pages(key, projection, options)
        return islice((item for page in pages for item in page.items), options.get("limit"))

    def query_page(self, key: Condition, *projection: Selected, **options: Unpack[QueryOptions]) -> QueryPage:
        """Return the first page of a query, in one request. See `query` for the arguments."""
        return next(self._pages(key, projection, options))

    def batch_get(self, keys: Iterable[Key], *projection: Selected) -> list[Item]:
        """Return the existing rows of any number of distinct keys, in any order.

        Requests of 100 keys are sent, eight at a time.
        """
        requests = [{self.name: _keys_request(some, projection)} for some in batched(keys, READ_AT_ONCE, strict=False)]
        workers = min(len(requests), _CONCURRENT_READS)
        answers = _concurrently(lambda wanted: read_batch(self._calls, wanted), requests, workers)
        return [item for answer in answers for item in answer[self.name]]

    def batch_get_across(self, keys: Mapping[Table, Sequence[Key]]) -> dict[Table, list[Item]]:
        """Return the existing rows of several tables, in one request of at most 100 keys.

        Example:
            rows = conversations.batch_get_across({conversations: [row, summary], directory: [membership]})
            rows[directory]
        """
        found = read_batch(self._calls, {table.name: _keys_request(some, ()) for table, some in keys.items()})
        return {table: found[table.name] for table in keys}

    def batch_write(self, *, puts: Iterable[Item] = (), deletes: Iterable[Key] = (), concurrency: int = 1) -> None:
        """Store and delete any number of rows with distinct keys, unconditionally and in any order.

        Args:
            puts: rows to store, replacing any rows with the same keys.
            deletes: keys of rows to delete.
            concurrency: number of requests of 25 rows that are sent at a time.

        Raises:
            FencepostError: some rows may have been written.
        """
        requests: Iterator[Mapping[str, Any]] = chain(
            ({"PutRequest": {"Item": item}} for item in puts), ({"DeleteRequest": {"Key": key}} for key in deletes)
        )
        batches = batched(requests, WRITTEN_AT_ONCE, strict=False)
        for _ in _concurrently(lambda some: write_batch(self._calls, self.name, [*some]), batches, concurrency):
            pass

    def put_write(self, item: Item, *, condition: Condition | None = None) -> Write:
        """Return a write that stores a row in a transaction."""
        return Write("Put", self._put(item, condition))

    def update_write(self, key: Key, *actions: Action, condition: Condition | None = None) -> Write:
        """Return a write that updates a row in a transaction."""
        return Write("Update", self._update(key, actions, condition))

    def delete_write(self, key: Key, *, condition: Condition | None = None) -> Write:
        """Return a write that deletes a row in a transaction."""
        return Write("Delete", self._by_key(key, condition))

    def check_write(self, key: Key, condition: Condition) -> Write:
        """Return a check of a condition in a transaction, which writes nothing."""
        return Write("ConditionCheck", self._by_key(key, condition))

    def transact(self, writes: Mapping[str, Write]) -> Cancelled | None:
        """Write at most 100 distinct rows of any tables, all or none. Conflicts with other transactions are returned.

        Args:
            writes: by name; `Cancelled.met` has the same names.

        Returns:
            None if all rows were written.

        Example:
            cancelled = conversations.transact(
                {
                    "conversation": conversations.update_write(key, ConversationRow.next_seq.add(1)),
                    "membership": directory.check_write(member, MembershipRow.active == True),
                }
            )
        """
        return self._transact(writes, lambda cancelled: not cancelled.throttled)

    def transact_with_retry(self, writes: Mapping[str, Write]) -> Cancelled | None:
        """Write rows as `transact` does, and retry after conflicts with other transactions."""
        return self._transact(writes, lambda cancelled: bool(cancelled.met))

    def _transact(self, writes: Mapping[str, Write], final: Callable[[Cancelled], bool]) -> Cancelled | None:
        for attempt in self._calls.retries.attempts():
            cancelled = transact_once(self._calls, writes, attempt)
            if cancelled is None or final(cancelled):
                return cancelled
        raise self._calls.failed()

    def _conditional(self, operation: Operation, request: Mapping[str, Any]) -> dict[str, Any] | Refused:
        try:
            return self._calls.send(operation, self.name, request)
        except ClientError as error:
            return Refused(cast("Item", error.response.get("Item", {})))

    def _put(self, item: Item, condition: Condition | None) -> dict[str, Any]:
        return {"TableName": self.name, "Item": item} | _write_fields(condition)

    def _by_key(self, key: Key, condition: Condition | None) -> dict[str, Any]:
        return {"TableName": self.name, "Key": key} | _write_fields(condition)

    def _update(self, key: Key, actions: Sequence[Action], condition: Condition | None) -> dict[str, Any]:
        return {"TableName": self.name, "Key": key} | _write_fields(condition, actions)

    def _pages(self, key: Condition, projection: Sequence[Selected], options: QueryOptions) -> Iterator[QueryPage]:
        request = {
            "TableName": self.name,
            "ConsistentRead": options.get("consistent", True),
            "ScanIndexForward": not options.get("descending", False),
            "IndexName": options.get("index"),
            "Limit": options.get("limit"),
            **expression_fields(key=key, filtered=options.get("filtered"), projection=projection),
        }
        start = options.get("start")
        while True:
            parameters = {**request, "ExclusiveStartKey": start}
            answer = self._calls.send(
                "query", self.name, {name: value for name, value in parameters.items() if value is not None}
            )
            start = answer.get("LastEvaluatedKey")
            yield QueryPage(answer["Items"], start)
            if start is None:
                return


def _write_fields(condition: Condition | None, actions: Sequence[Action] = ()) -> dict[str, Any]:
    """Return the expressions of a write, with the option that returns the row of a failed condition."""
    returned = {} if condition is None else {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    return expression_fields(condition=condition, actions=actions) | returned


def _keys_request(keys: Sequence[Key], projection: Sequence[Selected]) -> dict[str, Any]:
    return {"Keys": [*keys], "ConsistentRead": True} | expression_fields(projection=projection)


def _concurrently[Given, Answer](
    send: Callable[[Given], Answer], requests: Iterable[Given], workers: int
) -> Iterator[Answer]:
    """Yield the responses in order. The first failure is raised after all started requests have ended."""
    if workers <= 1:
        yield from map(send, requests)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(send, requests)
