"""What `Table` sends, and what it makes of the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from botocore.exceptions import ConnectTimeoutError
from botocore.parsers import ResponseParserError
from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from fencepost.kernel.aws.calls import ConsumedCapacity
from fencepost.kernel.aws.rows import Row
from fencepost.kernel.aws.table import QueryPage, Refused, Table
from fencepost.kernel.aws.transactions import Cancelled
from fencepost.kernel.errors import ErrorCode, FencepostError
from tests.doubles.dynamodb_client import Answer, bench, refusal

MOST_CALLS = 20
"""More than a policy of two seconds allows."""


class ThingRow(Row):
    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)
    count = NumberAttribute()


KEY = ThingRow.key("p", "1")
ITEM = KEY | {"count": {"N": "1"}}
CONDITION = ThingRow.count == 1
REFUSED = refusal("ConditionalCheckFailedException", Item=ITEM)
CONFLICT = refusal("TransactionConflictException")
THROTTLED = refusal("ProvisionedThroughputExceededException")


def unprocessed(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Leave everything of a batch undone."""
    return {"Responses": {}, "UnprocessedItems": request["RequestItems"], "UnprocessedKeys": request["RequestItems"]}


def all_but_one(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Do the first of what a batch holds, as long as there is more than one."""
    ((table, wanted),) = request["RequestItems"].items()
    if isinstance(wanted, list):
        return {"UnprocessedItems": {table: wanted[1:] or wanted}}
    left = {table: wanted | {"Keys": wanted["Keys"][1:] or wanted["Keys"]}}
    return {"Responses": {table: [wanted["Keys"][0]]}, "UnprocessedKeys": left}


def cancellation(*codes: str) -> Exception:
    reasons = [{"Code": code} | ({"Item": ITEM} if code == "ConditionalCheckFailed" else {}) for code in codes]
    return refusal("TransactionCanceledException", CancellationReasons=reasons)


CALLS: dict[str, Callable[[Table], object]] = {
    "get": lambda table: table.get(KEY),
    "put": lambda table: table.put(ITEM),
    "update": lambda table: table.update(KEY, ThingRow.count.add(1)),
    "delete": lambda table: table.delete(KEY),
    "query": lambda table: list(table.query(ThingRow.pk == "p")),
    "batch_get": lambda table: table.batch_get([KEY]),
    "batch_write": lambda table: table.batch_write(puts=[ITEM]),
    "transact": lambda table: table.transact({"it": table.put_write(ITEM)}),
    "transact_with_retry": lambda table: table.transact_with_retry({"it": table.put_write(ITEM)}),
}


def test_a_read_is_consistent_and_names_what_it_wants() -> None:
    with_item = bench({"Item": ITEM})
    assert with_item.table.get(KEY, ThingRow.count) == ITEM
    assert with_item.client.sent == [
        (
            "get_item",
            {
                "TableName": "things",
                "Key": KEY,
                "ConsistentRead": True,
                "ProjectionExpression": "#0",
                "ExpressionAttributeNames": {"#0": "count"},
            },
        )
    ]
    assert bench({}).table.get(KEY, consistent=False) is None


def test_a_conditional_write_tells_the_row_that_refused_it() -> None:
    refused = bench(REFUSED)
    assert refused.table.put(ITEM, condition=CONDITION) == Refused(ITEM)
    assert refused.table.update(KEY, ThingRow.count.add(1), condition=CONDITION) == Refused(ITEM)
    assert refused.table.delete(KEY, condition=CONDITION) == Refused(ITEM)
    assert [request["ReturnValuesOnConditionCheckFailure"] for _, request in refused.client.sent] == ["ALL_OLD"] * 3
    nothing_there = bench(refusal("ConditionalCheckFailedException"))
    assert nothing_there.table.put(ITEM, condition=CONDITION) == Refused({})


def test_an_update_returns_what_it_wrote() -> None:
    updated = bench({"Attributes": {"count": {"N": "2"}}})
    assert updated.table.update(KEY, ThingRow.count.add(1)) == {"count": {"N": "2"}}
    assert updated.client.request["ReturnValues"] == "UPDATED_NEW"
    assert "ReturnValuesOnConditionCheckFailure" not in updated.client.request


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "error",
    [
        refusal("AccessDeniedException"),
        ConnectTimeoutError(endpoint_url="http://secret-name"),
        ResponseParserError(),
        UnicodeDecodeError("utf-8", b"", 0, 1, ""),
    ],
)
def test_every_failure_has_the_tables_code_and_no_words_of_the_sdk(call: str, error: Exception) -> None:
    with pytest.raises(FencepostError) as raised:
        CALLS[call](bench(error).table)
    assert raised.value.code is ErrorCode.LEDGER_UNAVAILABLE
    assert "secret-name" not in str(raised.value)
    assert raised.value.__suppress_context__


@pytest.mark.parametrize("call", CALLS)
def test_a_store_that_stays_throttled_is_asked_a_few_times_with_pauses(call: str) -> None:
    store = bench(THROTTLED)
    with pytest.raises(FencepostError):
        CALLS[call](store.table)
    assert 2 < len(store.client.sent) < MOST_CALLS
    assert len(store.time.pauses) == len(store.client.sent) - 1
    assert 1.5 < store.time.now <= 2


@pytest.mark.parametrize("call", CALLS)
def test_throttling_that_ends_is_waited_for(call: str) -> None:
    done: Answer = {"Items": [], "Responses": {}}
    store = bench(THROTTLED, THROTTLED, done)
    CALLS[call](store.table)
    assert len(store.client.sent) == 3


@pytest.mark.parametrize("call", ["put", "update", "delete"])
def test_a_write_waits_for_a_transaction_at_its_row(call: str) -> None:
    store = bench(CONFLICT, CONFLICT, {})
    CALLS[call](store.table)
    assert len(store.time.pauses) == 2
    store = bench(CONFLICT)
    with pytest.raises(FencepostError):
        CALLS[call](store.table)
    assert 2 < len(store.client.sent) < MOST_CALLS


@pytest.mark.parametrize("call", ["batch_get", "batch_write"])
def test_a_batch_that_stays_unprocessed_is_given_up_at_the_deadline(call: str) -> None:
    store = bench(unprocessed)
    with pytest.raises(FencepostError):
        CALLS[call](store.table)
    assert 2 < len(store.client.sent) < MOST_CALLS
    assert len(store.time.pauses) == len(store.client.sent) - 1


@pytest.mark.parametrize("call", ["get", "write"])
def test_progress_in_a_batch_moves_no_deadline(call: str) -> None:
    store = bench(all_but_one)
    keys = [ThingRow.key("p", str(place)) for place in range(25)]
    with pytest.raises(FencepostError):
        store.table.batch_get(keys) if call == "get" else store.table.batch_write(deletes=keys)
    assert 2 < len(store.client.sent) < MOST_CALLS
    assert store.time.now <= 2


def test_what_a_batch_left_is_sent_again_and_nothing_else() -> None:
    store = bench(all_but_one, {"UnprocessedItems": {}})
    store.table.batch_write(puts=[ITEM], deletes=[ThingRow.key("p", "2")])
    assert store.client.request["RequestItems"] == {"things": [{"DeleteRequest": {"Key": ThingRow.key("p", "2")}}]}


def test_batches_are_cut_to_what_dynamodb_takes() -> None:
    writes, reads = bench({}), bench({"Responses": {"things": [ITEM]}})
    keys = [ThingRow.key("p", str(place)) for place in range(201)]
    writes.table.batch_write(puts=keys[:30], deletes=keys[30:60], concurrency=2)
    assert sorted(len(request["RequestItems"]["things"]) for _, request in writes.client.sent) == [10, 25, 25]
    assert reads.table.batch_get(keys, ThingRow.count) == [ITEM] * 3
    wanted = [request["RequestItems"]["things"] for _, request in reads.client.sent]
    assert sorted(len(one["Keys"]) for one in wanted) == [1, 100, 100]
    assert {one["ProjectionExpression"] for one in wanted} == {"#0"}
    assert bench({}).table.batch_get([]) == []


def test_several_tables_are_read_in_one_request() -> None:
    store = bench({"Responses": {"others": [ITEM]}})
    other = Table("others")
    assert store.table.batch_get_across({store.table: [KEY], other: [KEY]}) == {store.table: [], other: [ITEM]}
    assert len(store.client.sent) == 1


def test_a_query_reads_its_pages_as_they_are_asked_for() -> None:
    first, second = {"Items": [ITEM, ITEM], "LastEvaluatedKey": KEY}, {"Items": [ITEM]}
    store = bench(first, second)
    items = store.table.query(ThingRow.pk == "p")
    next(items)
    assert len(store.client.sent) == 1
    assert len(list(items)) == 2
    assert store.client.request["ExclusiveStartKey"] == KEY


def test_a_limit_ends_a_query_without_another_request() -> None:
    store = bench({"Items": [ITEM, ITEM], "LastEvaluatedKey": KEY})
    assert len(list(store.table.query(ThingRow.pk == "p", limit=2))) == 2
    assert [request["Limit"] for _, request in store.client.sent] == [2]


def test_a_page_tells_where_the_next_one_begins() -> None:
    store = bench({"Items": [ITEM], "LastEvaluatedKey": KEY})
    page = store.table.query_page(
        (ThingRow.pk == "p") & ThingRow.sk.between("1", "2"),
        ThingRow.sk,
        filtered=ThingRow.count > 0,
        limit=1,
        start=KEY,
        descending=True,
        index="by-count",
        consistent=False,
    )
    assert page == QueryPage([ITEM], KEY)
    assert store.client.request == {
        "TableName": "things",
        "ConsistentRead": False,
        "ScanIndexForward": False,
        "IndexName": "by-count",
        "Limit": 1,
        "KeyConditionExpression": "(#0 = :0 AND #1 BETWEEN :1 AND :2)",
        "FilterExpression": "#2 > :3",
        "ProjectionExpression": "#1",
        "ExpressionAttributeNames": {"#0": "pk", "#1": "sk", "#2": "count"},
        "ExpressionAttributeValues": {":0": {"S": "p"}, ":1": {"S": "1"}, ":2": {"S": "2"}, ":3": {"N": "0"}},
        "ExclusiveStartKey": KEY,
    }


def test_a_transaction_sends_its_writes_in_order() -> None:
    store, other = bench({}), Table("others")
    writes = {
        "put": store.table.put_write(ITEM, condition=CONDITION),
        "update": store.table.update_write(KEY, ThingRow.count.add(1)),
        "delete": store.table.delete_write(KEY),
        "check": other.check_write(KEY, CONDITION),
    }
    assert store.table.transact(writes) is None
    sent = store.client.request["TransactItems"]
    assert [next(iter(one)) for one in sent] == ["Put", "Update", "Delete", "ConditionCheck"]
    assert sent[3]["ConditionCheck"] == {
        "TableName": "others",
        "Key": KEY,
        "ConditionExpression": "#0 = :0",
        "ExpressionAttributeNames": {"#0": "count"},
        "ExpressionAttributeValues": {":0": {"N": "1"}},
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


def test_a_cancelled_transaction_names_the_writes_that_stood_in_the_way() -> None:
    store = bench(cancellation("None", "ConditionalCheckFailed", "TransactionConflict"))
    writes = {name: store.table.put_write(ITEM) for name in ("first", "second", "third")}
    assert store.table.transact(writes) == Cancelled({"second": ITEM})
    assert store.table.transact_with_retry(writes) == Cancelled({"second": ITEM})
    assert len(store.client.sent) == 2


@pytest.mark.parametrize(
    "error",
    [cancellation("TransactionConflict", "None"), CONFLICT, refusal("TransactionInProgressException")],
)
def test_contention_is_told_or_waited_for(error: Exception) -> None:
    told = bench(error).table
    cancelled = told.transact({"it": told.put_write(ITEM)})
    assert cancelled is not None
    assert cancelled.contended
    waiting = bench(error, error, {})
    assert waiting.table.transact_with_retry({"it": waiting.table.put_write(ITEM)}) is None
    assert len(waiting.time.pauses) == 2


def test_contention_that_does_not_end_is_given_up() -> None:
    store = bench(CONFLICT)
    with pytest.raises(FencepostError):
        store.table.transact_with_retry({"it": store.table.put_write(ITEM)})
    assert 2 < len(store.client.sent) < MOST_CALLS


@pytest.mark.parametrize("call", ["transact", "transact_with_retry"])
def test_a_transaction_that_was_throttled_is_repeated(call: str) -> None:
    store = bench(cancellation("ThrottlingError", "None"), {})
    assert CALLS[call](store.table) is None
    assert len(store.client.sent) == 2


@pytest.mark.parametrize("codes", [["ValidationError"], ["ItemCollectionSizeLimitExceeded", "TransactionConflict"], []])
def test_a_transaction_that_cannot_succeed_fails_at_once(codes: list[str]) -> None:
    store = bench(cancellation(*codes))
    with pytest.raises(FencepostError):
        store.table.transact_with_retry({"it": store.table.put_write(ITEM)})
    assert len(store.client.sent) == 1


def test_capacity_is_asked_for_and_told_where_somebody_listens() -> None:
    seen: list[ConsumedCapacity] = []
    capacity = {"TableName": "things", "CapacityUnits": 1.5}
    store = bench(THROTTLED, {"Item": ITEM, "ConsumedCapacity": capacity}, observer=seen.append)
    store.table.get(KEY)
    assert store.client.request["ReturnConsumedCapacity"] == "TOTAL"
    assert seen == [ConsumedCapacity("get_item", "things", 0.0, 1), ConsumedCapacity("get_item", "things", 1.5, 2)]


def test_capacity_of_several_tables_is_told_for_each() -> None:
    seen: list[ConsumedCapacity] = []
    capacity = [{"TableName": name, "CapacityUnits": 2.0} for name in ("things", "others")]
    store = bench({"ConsumedCapacity": capacity}, observer=seen.append)
    store.table.transact({"a": store.table.put_write(ITEM), "b": Table("others").delete_write(KEY)})
    assert seen == [ConsumedCapacity("transact_write_items", name, 2.0, 1) for name in ("things", "others")]


@pytest.mark.parametrize("call", CALLS)
def test_without_a_listener_no_capacity_is_asked_for(call: str) -> None:
    store = bench({"Items": [], "Responses": {}})
    CALLS[call](store.table)
    assert "ReturnConsumedCapacity" not in store.client.request
