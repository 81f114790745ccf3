"""`Table` on the emulated DynamoDB, and the rules that its requests are held against."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError
from mypy_boto3_dynamodb import DynamoDBClient
from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from fencepost.kernel.aws.calls import ConsumedCapacity, RetryPolicy
from fencepost.kernel.aws.expressions import all_of, any_of, size_of
from fencepost.kernel.aws.rows import AttributeFamily, Item, Row, attribute
from fencepost.kernel.aws.table import Refused, Table
from fencepost.kernel.aws.transactions import Cancelled
from fencepost.kernel.errors import FencepostError
from local import emulator as emulators
from local import processes
from local.emulator import Emulator
from tests.doubles import dynamodb_watch
from tests.integration.tables import connect, sent_operations

SOON = RetryPolicy(deadline=0.3, first=0.001)


class WordRow(Row):
    """A row whose attributes are reserved words, all of them."""

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)
    status = UnicodeAttribute()
    count = NumberAttribute()
    size = NumberAttribute()
    ttl = NumberAttribute()
    value = AttributeFamily(NumberAttribute, "{}", inside="values")


KEY = WordRow.key("p", "1")
ITEM: Item = KEY | {"status": attribute("open"), "count": attribute(1), "values": attribute({"user": 1})}


def make(client: DynamoDBClient) -> str:
    name = f"table-{uuid4()}"
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in ("pk", "sk")],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    )
    return name


@pytest.fixture
def client(emulator: Emulator) -> DynamoDBClient:
    return connect(emulator.endpoint_url)


@pytest.fixture
def table(client: DynamoDBClient) -> Table:
    return Table(make(client), lambda: client, retries=SOON)


def test_reserved_words_need_no_care(table: Table) -> None:
    table.put(ITEM)
    answer = table.update(
        KEY,
        WordRow.status.set("closed"),
        WordRow.size.set((WordRow.size | 0) + 5),
        WordRow.value["user"].set(2),
        WordRow.value["2026-03-01.x"].set(3),
        WordRow.count.add(1),
        WordRow.ttl.remove(),
        condition=all_of(
            WordRow.status == "open",
            any_of(WordRow.ttl.does_not_exist(), WordRow.ttl < 9),
            size_of(WordRow.status) < 5,
        ),
    )
    assert answer == {
        "status": {"S": "closed"},
        "size": {"N": "5"},
        "count": {"N": "2"},
        "values": {"M": {"user": {"N": "2"}, "2026-03-01.x": {"N": "3"}}},
    }
    assert table.get(KEY, WordRow.status, WordRow.value["user"]) == {
        "status": {"S": "closed"},
        "values": {"M": {"user": {"N": "2"}}},
    }
    found = table.query(all_of(WordRow.pk == "p", WordRow.sk >= "0"), WordRow.status, filtered=WordRow.count == 2)
    assert list(found) == [{"status": {"S": "closed"}}]


def test_single_writes_return_the_row_that_refused_them(table: Table) -> None:
    absent, closed = WordRow.pk.does_not_exist(), WordRow.status == "closed"
    assert table.update(KEY, WordRow.count.add(1), condition=closed) == Refused({})
    assert table.put(ITEM, condition=absent) is None
    assert table.put(ITEM, condition=absent) == Refused(ITEM)
    assert table.update(KEY, WordRow.count.add(1), condition=closed) == Refused(ITEM)
    assert table.delete(KEY, condition=closed) == Refused(ITEM)
    assert table.delete(KEY, condition=WordRow.status == "open") is None
    assert table.get(KEY) is None


def test_a_transaction_over_two_tables_says_what_stood_in_the_way(client: DynamoDBClient, table: Table) -> None:
    other = Table(make(client), lambda: client)
    other.put(ITEM)
    writes = {
        "put": table.put_write(ITEM, condition=WordRow.pk.does_not_exist()),
        "check": other.check_write(KEY, WordRow.status == "closed"),
        "gone": other.delete_write(WordRow.key("p", "2"), condition=WordRow.pk.exists()),
    }
    assert table.transact(writes) == Cancelled({"check": ITEM, "gone": {}})
    assert table.get(KEY) is None
    other.update(KEY, WordRow.status.set("closed"))
    del writes["gone"]
    assert table.transact_with_retry(writes) is None
    assert table.batch_get_across({table: [KEY], other: [KEY, WordRow.key("p", "2")]}) == {
        table: [ITEM],
        other: [{**ITEM, "status": {"S": "closed"}}],
    }


def test_a_query_goes_through_its_pages(table: Table) -> None:
    big = attribute("x" * 300_000)
    table.batch_write(puts=[{**WordRow.key("p", f"{place:02}"), "status": big} for place in range(10)])
    assert [item["sk"]["S"] for item in table.query(WordRow.pk == "p")] == [f"{place:02}" for place in range(10)]
    page = table.query_page(WordRow.pk == "p", WordRow.sk, descending=True, limit=2)
    assert [item["sk"]["S"] for item in page.items] == ["09", "08"]
    rest = table.query(WordRow.pk == "p", WordRow.sk, descending=True, start=page.next_key)
    assert len(list(rest)) == 8


def test_batches_of_any_size(client: DynamoDBClient, table: Table) -> None:
    keys = [WordRow.key("p", str(place)) for place in range(230)]
    sent = sent_operations(client)
    table.batch_write(puts=keys, concurrency=4)
    assert {item["sk"]["S"] for item in table.batch_get([*keys, WordRow.key("q", "1")])} == set(map(str, range(230)))
    table.batch_write(puts=[KEY | {"count": attribute(1)}], deletes=keys[2:])
    assert Counter(sent) == {"BatchWriteItem": 10 + 10, "BatchGetItem": 3}
    assert len(list(table.query(WordRow.pk == "p"))) == 2


def leave_unprocessed(client: DynamoDBClient, table: Table, first: Iterable[bool]) -> None:
    """Let the store do nothing of the batches that are told so, and say it."""
    told = iter(first)

    def leave(parsed: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        if next(told, False):
            wanted = context["wanted"]
            parsed |= {"UnprocessedItems": wanted, "UnprocessedKeys": wanted, "Responses": {}}

    def keep(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["wanted"] = params["RequestItems"]

    for operation in ("BatchGetItem", "BatchWriteItem"):
        client.meta.events.register(f"provide-client-params.dynamodb.{operation}", keep)
        client.meta.events.register(f"after-call.dynamodb.{operation}", leave)


def test_what_is_left_unprocessed_is_sent_again(client: DynamoDBClient, table: Table) -> None:
    sent = sent_operations(client)
    leave_unprocessed(client, table, [True, True, False, True])
    table.batch_write(puts=[ITEM])
    assert table.batch_get([KEY]) == [ITEM]
    assert Counter(sent) == {"BatchWriteItem": 3, "BatchGetItem": 2}


def test_a_store_that_processes_nothing_is_given_up(client: DynamoDBClient, table: Table) -> None:
    sent = sent_operations(client)
    leave_unprocessed(client, table, [True] * 1_000)
    with pytest.raises(FencepostError):
        table.batch_write(puts=[ITEM])
    with pytest.raises(FencepostError):
        table.batch_get([KEY])
    assert len(sent) < 60


def test_throttling_is_waited_for(client: DynamoDBClient, table: Table) -> None:
    refused = iter([True] * 3)

    def throttle(parsed: dict[str, Any], http_response: AWSResponse, **_: Any) -> None:
        if next(refused, False):
            http_response.status_code = 400
            parsed["Error"] = {"Code": "ProvisionedThroughputExceededException", "Message": ""}

    client.meta.events.register("after-call.dynamodb.PutItem", throttle)
    assert table.put(ITEM) is None
    assert table.get(KEY) == ITEM


def test_capacity_is_observed(client: DynamoDBClient, table: Table) -> None:
    seen: list[ConsumedCapacity] = []
    observed = Table(table.name, lambda: client, observer=seen.append)
    observed.put(ITEM)
    observed.get(KEY)
    assert [(usage.operation, usage.table, usage.attempts) for usage in seen] == [
        ("put_item", table.name, 1),
        ("get_item", table.name, 1),
    ]
    assert all(usage.units > 0 for usage in seen)


def test_the_emulator_notes_requests_that_dynamodb_would_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "found"
    monkeypatch.setenv(dynamodb_watch.RECORD, str(record))
    running = emulators.start(tmp_path / "emulator", processes.free_port())
    try:
        client = connect(running.endpoint_url)
        name = make(client)
        client.put_item(TableName=name, Item=KEY | {"status": {"S": "open"}})
        assert not record.exists()
        with contextlib.suppress(ClientError):
            client.query(
                TableName=name,
                KeyConditionExpression="pk = :pk",
                FilterExpression="status = :open",
                ExpressionAttributeValues={":pk": {"S": "p"}, ":open": {"S": "open"}},
            )
        assert "Query: FilterExpression names the reserved word status" in record.read_text()
    finally:
        running.stop()
