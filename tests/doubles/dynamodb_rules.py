"""The rules of DynamoDB that emulators do not enforce, held against requests.

It imports nothing but Python's own: it runs in the emulator's environment, too (`dynamodb_watch`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from tests.doubles.dynamodb_expressions import Expression, Malformed, Path, parse
from tests.doubles.dynamodb_sizes import Json, item_size, size_of_name, size_of_value
from tests.doubles.dynamodb_words import RESERVED

type Found = Iterator[str]

EXPRESSIONS = (
    "KeyConditionExpression",
    "ConditionExpression",
    "FilterExpression",
    "UpdateExpression",
    "ProjectionExpression",
)
EXPRESSION_BYTES = 4_096
PLACEHOLDER_BYTES = 255
SUBSTITUTION_BYTES = 2 * 1024 * 1024
OPERATORS = 300
IN_OPERANDS = 100
ITEM_BYTES = 400 * 1024
NUMBER_DIGITS = 38
PARTITION_KEY_BYTES, SORT_KEY_BYTES = 2_048, 1_024
TRANSACTION_WRITES, TRANSACTION_BYTES = 100, 4 * 1024 * 1024
BATCH_WRITES, BATCH_READS = 25, 100


@dataclass(frozen=True)
class Schema:
    """A table's keys.

    Attributes:
        keys: name of the partition key, and of the sort key where there is one.
        indexes: by name, the keys of its indexes.
        global_indexes: names of those that are global.
    """

    keys: tuple[str, ...]
    indexes: Mapping[str, tuple[str, ...]]
    global_indexes: frozenset[str] = frozenset()


type Schemas = Callable[[str], Schema | None]


def violations(operation: str, request: Json, schemas: Schemas) -> list[str]:
    """Return what DynamoDB would refuse a request for.

    Args:
        operation: such as `PutItem`.
        request: its body.
        schemas: returns a table's keys; None where the table is not known.
    """
    check = _CHECKS.get(operation)
    return [*check(request, schemas)] if check else []


def _single(request: Json, schemas: Schemas) -> Found:
    """Check a request, or a part of one, that names one table."""
    schema = schemas(request["TableName"].rpartition("/")[2])
    if "Key" in request:
        yield from _key(request["Key"], schema)
    if "Item" in request:
        yield from _item(request["Item"], schema)
    yield from _expressions(request, schema)


def _query(request: Json, schemas: Schemas) -> Found:
    yield from _single(request, schemas)
    schema = schemas(request["TableName"].rpartition("/")[2])
    if schema and request.get("ConsistentRead") and request.get("IndexName") in schema.global_indexes:
        yield "a global index is never consistent"


def _scan(request: Json, schemas: Schemas) -> Found:
    yield "a table is scanned"


def _transaction(request: Json, schemas: Schemas) -> Found:
    writes = [(kind, body) for one in request["TransactItems"] for kind, body in one.items()]
    yield from _at_most(TRANSACTION_WRITES, len(writes), "writes in a transaction")
    yield from _at_most(TRANSACTION_BYTES, sum(_bytes(body) for _, body in writes), "bytes in a transaction")
    for kind, body in writes:
        yield from _single(body, schemas)
        if kind == "ConditionCheck" and "ConditionExpression" not in body:
            yield "a condition check has no condition"
    yield from _once((body["TableName"], body.get("Key", body.get("Item")), schemas) for _, body in writes)


def _batch_write(request: Json, schemas: Schemas) -> Found:
    writes = [(table, *next(iter(one.items()))) for table, some in request["RequestItems"].items() for one in some]
    yield from _at_most(BATCH_WRITES, len(writes), "writes in a batch")
    for table, _, body in writes:
        yield from _single({"TableName": table, **body}, schemas)
    yield from _once((table, body.get("Key", body.get("Item")), schemas) for table, _, body in writes)


def _batch_get(request: Json, schemas: Schemas) -> Found:
    reads = [(table, key) for table, wanted in request["RequestItems"].items() for key in wanted["Keys"]]
    yield from _at_most(BATCH_READS, len(reads), "keys in a batch")
    for table, wanted in request["RequestItems"].items():
        yield from _expressions(wanted, schemas(table))
    for table, key in reads:
        yield from _key(key, schemas(table))
    yield from _once((table, key, schemas) for table, key in reads)


_CHECKS: Mapping[str, Callable[[Json, Schemas], Found]] = {
    "GetItem": _single,
    "PutItem": _single,
    "UpdateItem": _single,
    "DeleteItem": _single,
    "Query": _query,
    "Scan": _scan,
    "TransactWriteItems": _transaction,
    "BatchWriteItem": _batch_write,
    "BatchGetItem": _batch_get,
}


def _expressions(request: Json, schema: Schema | None) -> Found:
    names: Json = request.get("ExpressionAttributeNames", {})
    values: Json = request.get("ExpressionAttributeValues", {})
    parsed: dict[str, Expression] = {}
    for kind in EXPRESSIONS:
        if kind in request:
            yield from _at_most(EXPRESSION_BYTES, len(request[kind].encode()), f"bytes in {kind}")
            try:
                parsed[kind] = parse(kind, request[kind])
            except Malformed as error:
                yield f"{kind} cannot be parsed: {error}"
                return
    for kind, expression in parsed.items():
        yield from _one_expression(kind, expression)
        yield from _paths(kind, expression, request, schema)
    yield from _placeholders("name", names, (one.names for one in parsed.values()))
    yield from _placeholders("value", values, (one.values for one in parsed.values()))
    for empty in (
        field for field in ("ExpressionAttributeNames", "ExpressionAttributeValues") if request.get(field) == {}
    ):
        yield f"{empty} is empty"
    for name, value in values.items():
        yield from (f"{name}: {problem}" for problem in _value(value))
    yield from _at_most(
        SUBSTITUTION_BYTES, sum(map(size_of_name, names.values())) + item_size(values), "bytes in values"
    )


def _one_expression(kind: str, expression: Expression) -> Found:
    yield from (f"{kind} names the reserved word {word}" for word in expression.words if word.lower() in RESERVED)
    yield from _at_most(OPERATORS, expression.operators, f"operators in {kind}")
    yield from _at_most(IN_OPERANDS, expression.longest_list, f"operands of IN in {kind}")
    if expression.redundant:
        yield f"{kind} has redundant parentheses"


def _paths(kind: str, expression: Expression, request: Json, schema: Schema | None) -> Found:
    names: Json = request.get("ExpressionAttributeNames", {})
    targets = [_resolved(path, names) for path in expression.targets]
    for one, other in combinations(targets, 2):
        if one[: len(other)] == other[: len(one)]:
            yield f"{kind} has overlapping paths {_dotted(one)} and {_dotted(other)}"
    if kind == "ProjectionExpression":
        for one, other in combinations([_resolved(path, names) for path in expression.paths], 2):
            if one[: len(other)] == other[: len(one)]:
                yield f"{kind} has overlapping paths {_dotted(one)} and {_dotted(other)}"
    if schema is None:
        return
    yield from (f"{kind} changes the key {path[0]}" for path in targets if path[0] in schema.keys)
    if kind == "FilterExpression":
        index = request.get("IndexName")
        keys = schema.indexes.get(index, ()) if index else schema.keys
        used = {_resolved(path, names)[0] for path in expression.paths}
        yield from (f"{kind} names the key {key}" for key in keys if key in used)


def _placeholders(kind: str, declared: Json, used: Iterable[set[str]]) -> Found:
    needed = set[str]().union(*used)
    yield from (f"the {kind} {name} is not declared" for name in sorted(needed - declared.keys()))
    yield from (f"the {kind} {name} is not used" for name in sorted(declared.keys() - needed))
    for name in declared:
        yield from _at_most(PLACEHOLDER_BYTES, len(name.encode()), f"bytes in the placeholder {name[:20]}…")


def _item(item: Json, schema: Schema | None) -> Found:
    yield from _at_most(ITEM_BYTES, item_size(item), "bytes in an item")
    for name, value in item.items():
        yield from (f"{name}: {problem}" for problem in _value(value))
    if schema is None:
        return
    yield from _key({name: item[name] for name in schema.keys if name in item}, schema)
    indexed = {name for keys in schema.indexes.values() for name in keys} - {*schema.keys}
    yield from (
        f"the index's key {name} is empty" for name in sorted(indexed) if name in item and _is_empty(item[name])
    )


def _key(key: Json, schema: Schema | None) -> Found:
    for name, value in key.items():
        yield from (f"{name}: {problem}" for problem in _value(value))
        if not {*value} <= {"S", "N", "B"}:
            yield f"the key {name} is of a type that no key has"
        elif _is_empty(value):
            yield f"the key {name} is empty"
    if schema is None:
        return
    if {*key} != {*schema.keys}:
        yield f"the key is {', '.join(key)} instead of {', '.join(schema.keys)}"
    for name, most in zip(schema.keys, (PARTITION_KEY_BYTES, SORT_KEY_BYTES), strict=False):
        if name in key:
            yield from _at_most(most, size_of_value(key[name]), f"bytes in the key {name}")


def _value(value: Json) -> Found:
    """Check a typed value, with what is nested in it."""
    if len(value) != 1:
        yield "a value has exactly one type"
        return
    ((kind, content),) = value.items()
    if kind == "N":
        yield from _number(content)
    elif kind in {"SS", "NS", "BS"}:
        if not content:
            yield "a set is empty"
        if len({*content}) < len(content):
            yield "a set holds something twice"
        yield from (problem for one in content if kind == "NS" for problem in _number(one))
    elif kind in {"L", "M"}:
        yield from (problem for one in (content if kind == "L" else content.values()) for problem in _value(one))


def _number(text: str) -> Found:
    digits = text.lower().partition("e")[0].lstrip("+-").replace(".", "").strip("0")
    if len(digits) > NUMBER_DIGITS:
        yield f"a number has {len(digits)} digits of at most {NUMBER_DIGITS}"


def _once(items: Iterable[tuple[str, Json, Schemas]]) -> Found:
    seen = set[tuple[str, str]]()
    for table, item, schemas in items:
        schema = schemas(table)
        identity = table, repr([item.get(name) for name in (schema.keys if schema else sorted(item))])
        if identity in seen:
            yield f"an item of {table} stands there twice"
        seen.add(identity)


def _at_most(most: int, actual: int, what: str) -> Found:
    if actual > most:
        yield f"{actual} {what}, of at most {most}"


def _resolved(path: Path, names: Json) -> Path:
    return tuple(names.get(one, one) if isinstance(one, str) else one for one in path)


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def _is_empty(value: Json) -> bool:
    return value.get("S") == "" or value.get("B") == ""


def _bytes(body: Json) -> int:
    return (
        item_size(body.get("Item", {}))
        + item_size(body.get("Key", {}))
        + item_size(body.get("ExpressionAttributeValues", {}))
    )
