"""All code reaches DynamoDB through `fencepost.kernel.aws.table.Table`, and writes no expression as text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.paths import ROOT

CORE = ROOT / "layers" / "core" / "python" / "fencepost"
HOME = CORE / "kernel" / "aws"
CLIENT_METHODS = {
    "batch_execute_statement",
    "batch_get_item",
    "batch_write_item",
    "delete_item",
    "execute_statement",
    "execute_transaction",
    "get_item",
    "put_item",
    "transact_get_items",
    "transact_write_items",
    "update_item",
}
PAGED = {"query", "scan"}
EXPRESSIONS = {
    "ConditionExpression",
    "FilterExpression",
    "KeyConditionExpression",
    "ProjectionExpression",
    "UpdateExpression",
}


def offences(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield calls of a client's methods, and expressions in requests."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) if name in CLIENT_METHODS:
                yield node
            case ast.Call(func=ast.Attribute(attr="query" | "scan"), keywords=words) if "TableName" in {
                w.arg for w in words
            }:
                yield node
            case ast.Call(func=ast.Attribute(attr="get_paginator"), args=[ast.Constant(value=name)]) if name in PAGED:
                yield node
            case ast.Constant(value=str(name)) | ast.keyword(arg=str(name)) if name in EXPRESSIONS:
                yield node


def offenders(source: str) -> set[str]:
    """Return the names of a module's classes and functions with offences; "" for the module's own code."""
    tree = ast.parse(source)
    return {getattr(node, "name", "") for node in tree.body if any(offences(node))}


def sources() -> list[Path]:
    return [path for folder in (CORE, ROOT / "functions") for path in folder.rglob("*.py") if HOME not in path.parents]


def test_only_the_table_calls_dynamodb() -> None:
    found = {name for path in sources() for name in offenders(path.read_text(encoding="utf-8"))}
    assert found == set(), "use fencepost.kernel.aws.table.Table"


@pytest.mark.parametrize(
    "source",
    [
        "def f(client): client.get_item(TableName='t')",
        "def f(client): write = client.transact_write_items",
        "def f(client): client.query(TableName='t')",
        "def f(client): client.query(**{'KeyConditionExpression': 'a'})",
        "def f(client): client.get_paginator('query')",
        "def f(send): send(ConditionExpression='a')",
        "class f:\n  def g(self): return {'UpdateExpression': 'SET a = :b'}",
    ],
)
def test_an_offence_is_found(source: str) -> None:
    assert offenders(source) == {"f"}


def test_what_looks_alike_is_none() -> None:
    assert offenders("def f(table, engine): table.query(1), engine.query('text'), {}.get('item')") == set()
