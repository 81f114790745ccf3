"""Each rule of DynamoDB that the checker knows: what keeps it passes, what breaks it is found."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.doubles import dynamodb_scans, dynamodb_watch
from tests.doubles.dynamodb_expressions import Malformed, parse
from tests.doubles.dynamodb_rules import Schema, violations
from tests.doubles.dynamodb_sizes import item_size
from tests.doubles.dynamodb_words import RESERVED

SCHEMA = Schema(("pk", "sk"), {"due": ("shard", "due_at"), "local": ("pk", "made_at")}, frozenset({"due"}))
KEY = {"pk": {"S": "a"}, "sk": {"S": "b"}}
ONE = {"N": "1"}


def found(operation: str, request: Mapping[str, Any]) -> str:
    return "; ".join(violations(operation, request, lambda name: SCHEMA if name == "things" else None))


def of_update(expression: str, names: Mapping[str, str] | None = None, **values: Any) -> str:
    request: dict[str, Any] = {"TableName": "things", "Key": KEY, "UpdateExpression": expression}
    if names is not None:
        request["ExpressionAttributeNames"] = names
    if values:
        request["ExpressionAttributeValues"] = {f":{name}": value for name, value in values.items()}
    return found("UpdateItem", request)


def of_condition(expression: str, names: Mapping[str, str] | None = None, **values: Any) -> str:
    request: dict[str, Any] = {"TableName": "things", "Item": KEY, "ConditionExpression": expression}
    if names is not None:
        request["ExpressionAttributeNames"] = names
    if values:
        request["ExpressionAttributeValues"] = {f":{name}": value for name, value in values.items()}
    return found("PutItem", request)


def of_item(**attributes: Any) -> str:
    return found("PutItem", {"TableName": "things", "Item": KEY | attributes})


def test_there_are_573_reserved_words() -> None:
    assert len(RESERVED) == 573
    assert {"status", "until", "state", "ttl", "zone", "abort"} <= RESERVED


@pytest.mark.parametrize(
    "expression",
    [
        "SET a = :x",
        "SET #until = :x, b[3].c = if_not_exists(calls, :x) + :x REMOVE d, #e.f ADD g :x DELETE h :x",
        "set a = list_append(a, :x) remove d",
        "SET a = (a - :x)",
    ],
)
def test_updates_that_are_fine(expression: str) -> None:
    names = {name: name[1:] for name in ("#until", "#e") if name in expression}
    assert of_update(expression, names or None, x=ONE) == ""


@pytest.mark.parametrize(
    "expression",
    [
        "attribute_not_exists(pk) OR (a = :x AND NOT b <> :x)",
        "a BETWEEN :x AND :x and size(b) >= :x",
        "a IN (:x, :x) AND begins_with(b, :x) AND contains(c, :x) AND attribute_type(d, :x)",
        "((a = :x AND b = :x) OR (c = :x AND d = :x))",
        "(#size.sizes > :x)",
    ],
)
def test_conditions_that_are_fine(expression: str) -> None:
    assert of_condition(expression, {"#size": "size"} if "#" in expression else None, x=ONE) == ""


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("SET status = :x", "reserved word status"),
        ("SET a.Until = :x", "reserved word Until"),
        ("REMOVE ttl ADD a :x", "reserved word ttl"),
        ("SET a = :x, a.b = :x", "overlapping paths a and a.b"),
        ("SET a = :x REMOVE a", "overlapping paths a and a"),
        ("SET a.b = :x ADD #a.c.d :x REMOVE a.c", "overlapping paths a.c.d and a.c"),
        ("SET a[1] = :x, a[1].b = :x", "overlapping paths a.1 and a.1.b"),
        ("SET sk = :x", "changes the key sk"),
        ("SET a = :x, b = :y", "the value :y is not declared"),
        ("SET #b = :x", "the name #b is not declared"),
        ("REMOVE a", "the value :x is not used"),
        ("SET a = :x SET b = :x", "cannot be parsed"),
        ("SET a :x", "cannot be parsed"),
        ("ADD a b", "cannot be parsed"),
        ("", "cannot be parsed"),
        (f"SET {'a' * 4_088} = :x", "4097 bytes in UpdateExpression"),
        ("SET " + ", ".join(f"a{place} = :x" for place in range(301)), "301 operators in UpdateExpression"),
    ],
)
def test_updates_that_are_refused(expression: str, problem: str) -> None:
    assert problem in of_update(expression, {"#a": "a"} if "#a" in expression else None, x=ONE)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("name = :x", "reserved word name"),
        ("size = :x", "reserved word size"),
        ("((a = :x))", "redundant parentheses"),
        ("a IN (" + ", ".join([":x"] * 101) + ")", "101 operands of IN"),
        (" AND ".join(["a = :x"] * 151), "301 operators in ConditionExpression"),
        ("a = :x AND", "cannot be parsed"),
        ("a = :x b", "cannot be parsed"),
        ("begins_with(a)", "cannot be parsed"),
        ("a = :x ! b", "cannot be parsed"),
        ("(a = :x", "cannot be parsed"),
        ("3 = :x", "cannot be parsed"),
    ],
)
def test_conditions_that_are_refused(expression: str, problem: str) -> None:
    assert problem in of_condition(expression, x=ONE)


def test_placeholders_are_declared_and_used() -> None:
    assert "the name #b is not used" in of_condition("a = :x", {"#b": "b"}, x=ONE)
    assert "ExpressionAttributeNames is empty" in of_condition("a = :x", {}, x=ONE)
    long = "#" + "a" * 255
    assert "256 bytes in the placeholder" in of_condition(f"{long} = :x", {long: "a"}, x=ONE)
    assert "bytes in values" in of_condition("a = :x", x={"S": "x" * 2_100_000})


@pytest.mark.parametrize(
    ("attributes", "problem"),
    [
        ({"a": {"SS": []}}, "a: a set is empty"),
        ({"a": {"L": [{"M": {"b": {"NS": []}}}]}}, "a: a set is empty"),
        ({"a": {"SS": ["b", "b"]}}, "holds something twice"),
        ({"a": {"N": "1" * 39}}, "39 digits"),
        ({"a": {"NS": ["1." + "2" * 38]}}, "39 digits"),
        ({"a": {"S": "b", "N": "1"}}, "exactly one type"),
        ({"pk": {"S": ""}}, "the key pk is empty"),
        ({"sk": {"B": ""}}, "the key sk is empty"),
        ({"sk": {"BOOL": True}}, "of a type that no key has"),
        ({"due_at": {"S": ""}}, "the index's key due_at is empty"),
        ({"pk": {"S": "ü" * 1_025}}, "2050 bytes in the key pk"),
        ({"sk": {"S": "s" * 1_025}}, "1025 bytes in the key sk"),
        ({"a": {"S": "s" * 409_600}}, "bytes in an item"),
    ],
)
def test_items_that_are_refused(attributes: Mapping[str, Any], problem: str) -> None:
    assert problem in of_item(**attributes)


def test_items_that_are_fine() -> None:
    assert of_item(a={"S": ""}, b={"B": ""}, c={"N": "1" * 38}, d={"N": "1" + "0" * 100}, e={"NULL": True}) == ""
    assert of_item(a={"L": []}, b={"M": {}}, c={"SS": ["x"]}, due_at={"S": "2026"}) == ""
    assert of_item(a={"S": "s" * (409_600 - 7)}) == ""


def test_keys_are_whole() -> None:
    assert "the key is pk instead of pk, sk" in found("GetItem", {"TableName": "things", "Key": {"pk": {"S": "a"}}})
    assert "the key pk is empty" in found("DeleteItem", {"TableName": "things", "Key": KEY | {"pk": {"S": ""}}})
    assert found("GetItem", {"TableName": "unknown", "Key": {"id": {"S": "a"}}}) == ""


def of_query(**fields: Any) -> str:
    values = {":x": {"S": "a"}} | fields.pop("values", {})
    return found("Query", {"TableName": "things", "ExpressionAttributeValues": values, **fields})


def test_queries() -> None:
    assert of_query(KeyConditionExpression="pk = :x AND begins_with(sk, :x)", ConsistentRead=True) == ""
    where = "pk = :x"
    assert "names the key sk" in of_query(KeyConditionExpression=where, FilterExpression="sk > :x")
    assert of_query(KeyConditionExpression=where, FilterExpression="sk > :x", IndexName="local") == ""
    assert "names the key made_at" in of_query(
        KeyConditionExpression=where, FilterExpression="made_at > :x", IndexName="local"
    )
    consistent = of_query(KeyConditionExpression="shard = :x", IndexName="due", ConsistentRead=True)
    assert "never consistent" in consistent
    assert "overlapping paths a and a.b" in of_query(KeyConditionExpression=where, ProjectionExpression="a, c, a.b")
    assert "reserved word state" in of_query(KeyConditionExpression=where, ProjectionExpression="pk, state")


def test_nothing_is_scanned() -> None:
    assert "scanned" in found("Scan", {"TableName": "things"})


def writes(count: int, **attributes: Any) -> list[dict[str, Any]]:
    items = [{"pk": {"S": "a"}, "sk": {"S": str(place)}} | attributes for place in range(count)]
    return [{"Put": {"TableName": "things", "Item": item}} for item in items]


def test_transactions() -> None:
    assert found("TransactWriteItems", {"TransactItems": writes(100)}) == ""
    assert "101 writes" in found("TransactWriteItems", {"TransactItems": writes(101)})
    assert "bytes in a transaction" in found(
        "TransactWriteItems", {"TransactItems": writes(11, a={"S": "s" * 400_000})}
    )
    delete = {"Delete": {"TableName": "things", "Key": writes(1)[0]["Put"]["Item"]}}
    assert "twice" in found("TransactWriteItems", {"TransactItems": [*writes(1), delete]})
    check = {"ConditionCheck": {"TableName": "things", "Key": KEY}}
    assert "has no condition" in found("TransactWriteItems", {"TransactItems": [check]})
    update = {"Update": {"TableName": "things", "Key": KEY, "UpdateExpression": "REMOVE pk"}}
    assert "changes the key pk" in found("TransactWriteItems", {"TransactItems": [update]})


def test_batches() -> None:
    puts = [{"PutRequest": {"Item": one["Put"]["Item"]}} for one in writes(26)]
    assert found("BatchWriteItem", {"RequestItems": {"things": puts[:25]}}) == ""
    assert "26 writes" in found("BatchWriteItem", {"RequestItems": {"things": puts}})
    delete = {"DeleteRequest": {"Key": puts[0]["PutRequest"]["Item"]}}
    assert "twice" in found("BatchWriteItem", {"RequestItems": {"things": [puts[0], delete]}})
    keys = [{"pk": {"S": "a"}, "sk": {"S": str(place)}} for place in range(101)]
    assert found("BatchGetItem", {"RequestItems": {"things": {"Keys": keys[:100]}}}) == ""
    assert "101 keys" in found("BatchGetItem", {"RequestItems": {"things": {"Keys": keys}}})
    assert "twice" in found("BatchGetItem", {"RequestItems": {"things": {"Keys": [KEY, KEY]}}})
    wanted = {"Keys": [KEY], "ProjectionExpression": "count"}
    assert "reserved word count" in found("BatchGetItem", {"RequestItems": {"things": wanted}})


def test_sizes_are_those_of_the_service() -> None:
    item = {
        "text": {"S": "ü"},
        "data": {"B": base64.b64encode(b"12345").decode()},
        "flag": {"BOOL": True},
        "list": {"L": [{"S": "ab"}]},
        "tags": {"SS": ["a", "bc"]},
        "map": {"M": {"x": {"NULL": True}}},
        "n": {"N": "-12.5"},
    }
    assert item_size(item) == (4 + 2) + (4 + 5) + (4 + 1) + (4 + 3 + 1 + 2) + (4 + 3) + (3 + 3 + 1 + 1 + 1) + (1 + 3)


def test_an_expression_tells_what_it_names() -> None:
    expression = parse("UpdateExpression", "SET #a.b[2] = :x REMOVE c")
    assert (expression.names, expression.words, expression.values) == ({"#a"}, {"b", "c"}, {":x"})
    assert expression.targets == [("#a", "b", 2), ("c",)]
    with pytest.raises(Malformed):
        parse("ProjectionExpression", "a b")


async def handled(*_: Any) -> str:
    return "handled"


def watch_one(record: Path, operation: str, body: bytes, **headers: str) -> str:
    """Send a request through the watch, and return what it noted."""
    handler = dynamodb_watch.watched(handled, lambda _: SCHEMA, record)
    sent = {"x-amz-target": f"DynamoDB_20120810.{operation}", **headers}
    assert asyncio.run(handler("POST", "/", sent, body, {})) == "handled"
    return record.read_text() if record.exists() else ""


def test_the_watch_notes_requests_and_lets_them_pass(tmp_path: Path) -> None:
    record = tmp_path / "found"
    fine = json.dumps({"TableName": "things", "Key": KEY}).encode()
    assert watch_one(record, "GetItem", fine) == ""
    wrong = json.dumps({"TableName": "things", "Key": {}}).encode()
    assert "GetItem: the key is  instead of pk, sk" in watch_one(record, "GetItem", wrong)
    assert "cannot be checked" in watch_one(record, "GetItem", b"{}")


def test_only_a_test_may_scan(tmp_path: Path) -> None:
    body = json.dumps({"TableName": "things"}).encode()
    assert watch_one(tmp_path / "test", "Scan", body, **{dynamodb_watch.FROM_A_TEST: "scan"}) == ""
    assert "scanned" in watch_one(tmp_path / "code", "Scan", body)


def test_our_code_is_told_from_a_test_by_its_callers() -> None:
    assert not dynamodb_scans.is_asked_by_our_code(sys._getframe())
    ours = compile("frame = sys._getframe()", "/x/layers/core/python/fencepost/y.py", "exec")
    space: dict[str, Any] = {"sys": sys}
    exec(ours, space)
    assert dynamodb_scans.is_asked_by_our_code(space["frame"])


def test_the_emulators_tables_tell_their_keys() -> None:
    index = {"IndexName": "due", "KeySchema": [{"AttributeName": "shard"}, {"AttributeName": "due_at"}]}
    table = {"pk_name": "pk", "sk_name": "sk", "GlobalSecondaryIndexes": [index]}
    assert dynamodb_watch.schema_of(table) == Schema(("pk", "sk"), {"due": ("shard", "due_at")}, frozenset({"due"}))
    assert dynamodb_watch.schema_of({"pk_name": "pk", "sk_name": None}) == Schema(("pk",), {})
    assert dynamodb_watch.schema_of(None) is None
