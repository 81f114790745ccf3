"""The AWS actions that a function's code calls, read from the source of every adapter that builds the function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from local.paths import ROOT

CORE = ROOT / "layers" / "core" / "python"
BOOTSTRAP = "fencepost.bootstrap"
ADAPTERS = (
    r"fencepost\.(kernel\.aws|\w+\.(rows|dynamodb|s3|sqs|sts|sqlite|tokens|anthropic|powertools|fetching|readers"
    r"|indexes|bedrock|local_embedder))\b"
)
"""Matches the modules that reach beyond the process, and those that hold rows."""
# The SDK's methods, and the actions of `TransactWriteItems` and of presigned requests, each with IAM's name.
ACTIONS = {
    "get_item": "dynamodb:GetItem",
    "batch_get_item": "dynamodb:BatchGetItem",
    "query": "dynamodb:Query",
    "put_item": "dynamodb:PutItem",
    "update_item": "dynamodb:UpdateItem",
    "delete_item": "dynamodb:DeleteItem",
    "batch_write_item": "dynamodb:BatchWriteItem",
    "Put": "dynamodb:PutItem",
    "Update": "dynamodb:UpdateItem",
    "Delete": "dynamodb:DeleteItem",
    "ConditionCheck": "dynamodb:ConditionCheckItem",
    "get_object": "s3:GetObject",
    "put_object": "s3:PutObject",
    "generate_presigned_post": "s3:PutObject",
    "tagging": "s3:PutObjectTagging",
    "delete_objects": "s3:DeleteObject",
    "list_objects_v2": "s3:ListBucket",
    "send_message_batch": "sqs:SendMessage",
    "change_message_visibility": "sqs:ChangeMessageVisibility",
    "assume_role": "sts:AssumeRole",
}
# The methods of `Table`, each with that of the SDK.
TABLE = "fencepost.kernel.aws.table"
TABLE_CALLS = {
    "get": "get_item",
    "put": "put_item",
    "update": "update_item",
    "delete": "delete_item",
    "query": "query",
    "query_page": "query",
    "batch_get": "batch_get_item",
    "batch_get_across": "batch_get_item",
    "batch_write": "batch_write_item",
    "put_write": "Put",
    "update_write": "Update",
    "delete_write": "Delete",
    "check_write": "ConditionCheck",
}
# `DeleteObjects` names its keys under this word, too.
_NOT_A_TRANSACTION = {"fencepost.blobs.s3"}


def adapters_of(function: str) -> frozenset[str]:
    """Return the adapter modules that a function is built with, and those that they import.

    Follows the names that `app.py` takes from `bootstrap` through every function and class that they use there: an
    adapter that stands in the same module, but serves another function alone, is left out.
    """
    found: set[str] = set()
    seen: set[tuple[str, str]] = set()
    waiting = list(_origins(_tree(ROOT / "functions" / function / "app.py")).values())
    while waiting:
        module, name = waiting.pop()
        if re.match(ADAPTERS, module):
            found.add(module)
        if not module.startswith(BOOTSTRAP) or (module, name) in seen:
            continue
        seen.add((module, name))
        tree = _tree(_path(module))
        for node in _definitions(tree, name):
            known = {**_origins(tree), **_origins(node), **{local: (module, local) for local in _defined(tree)}}
            used = {word.id for word in ast.walk(node) if isinstance(word, ast.Name)}
            waiting.extend(known[word] for word in used if word in known)
    return frozenset(found.union(*(_closure(_tree(_path(name)), ADAPTERS) for name in found)))


def actions_of(module: str) -> frozenset[str]:
    """Return the actions that one module asks for."""
    tree = _tree(_path(module))
    words = {*_words(tree, module), *_table_calls(tree)}
    return frozenset(ACTIONS[word] for word in words if word in ACTIONS)


def _words(tree: ast.AST, module: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value in {"Put", "Update", "Delete", "ConditionCheck"} and module in _NOT_A_TRANSACTION:
                continue
            yield node.value


def _table_calls(tree: ast.Module) -> Iterator[str]:
    """Yield what a module asks of tables: of what is named a table, and of what it makes one itself."""
    if not any(isinstance(node, ast.ImportFrom) and node.module == TABLE for node in ast.walk(tree)):
        return
    made = {
        _last_name(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _last_name(node.value.func) == "Table"
        for target in node.targets
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in TABLE_CALLS:
            owner = _last_name(node.value)
            if owner in made or owner.endswith("table"):
                yield TABLE_CALLS[node.attr]


def _last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _origins(tree: ast.AST) -> dict[str, tuple[str, str]]:
    """Return the module and the name there of each name that is imported from ours; of a module, the module."""
    found: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("fencepost"):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found[alias.asname or alias.name] = (inner if _path(inner).exists() else node.module, alias.name)
    return found


def _definitions(tree: ast.Module, name: str) -> Iterator[ast.stmt]:
    return (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name)


def _defined(tree: ast.Module) -> Iterator[str]:
    return (node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef))


def _closure(tree: ast.AST, package: str) -> Iterator[str]:
    seen: set[str] = set()
    waiting = list(_imports(tree, package))
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            yield module
            waiting.extend(_imports(_tree(_path(module)), package))


def _imports(tree: ast.AST, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and re.match(package, node.module):
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if _path(name).exists() else node.module for name in inner)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name for name in inner if re.match(package, name) and _path(name).exists())


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _path(module: str) -> Path:
    folder = CORE / module.replace(".", "/")
    return folder / "__init__.py" if (folder / "__init__.py").exists() else folder.with_suffix(".py")
