"""Every port method that reads or writes an owner's data takes a `Scope` first, and only `authorize` creates scopes."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import fencepost
from fencepost.identity.domain import scope as identity
from fencepost.identity.domain.scope import Action, Scope, Visitor, authorize, own

# What is asked before there is anybody, or holds nobody's words. A new port is named here, or takes scopes.
NOBODYS = {
    "AddressLimiter",
    # Ids of documents whose time has come, before it is known whose they are; each is then read in a scope.
    "DueDocumentStore",
    "AuditTrail",
    "BlockLedger",
    "Clock",
    "Directory",
    "DocumentArchive",
    "DocumentFetcher",
    "SiteDocuments",
    "DocumentReader",
    # Computes, and keeps nothing.
    "Embedder",
    "Events",
    "JobQueue",
    "KeySetFetcher",
    "Keys",
    "Ledger",
    "MemberTokens",
    "Model",
    # Ids of organisations; each is then looked at in its own scope.
    "OrganisationRegistry",
    "RequestLog",
    "RetryQueue",
    "SectionRanker",
    "TextExtractor",
    "VisitorTokens",
}
ABOUT_NOBODY = {("VectorIndex", "health")}
WORDS = re.compile(r"\b(Scope|Conversation|Message|MessagePointer|Fact|Summary|Attachment)\b")
ROOT = Path(__file__).resolve().parents[3]
PACKAGE = Path(fencepost.__file__).parent


def protocols() -> Iterator[tuple[str, type]]:
    for path in sorted(PACKAGE.glob("*/ports.py")):
        module = importlib.import_module(f"fencepost.{path.parent.name}.ports")
        for name, port in vars(module).items():
            if inspect.isclass(port) and port.__module__ == module.__name__ and getattr(port, "_is_protocol", False):
                yield name, port


def methods() -> list[tuple[str, str, Any]]:
    return [
        (name, method, function)
        for name, port in protocols()
        if name not in NOBODYS
        for method, function in vars(port).items()
        if inspect.isfunction(function) and not method.startswith("_") and (name, method) not in ABOUT_NOBODY
    ]


@pytest.mark.parametrize(("port", "method", "function"), methods(), ids=lambda part: getattr(part, "__name__", part))
def test_a_scope_comes_first(port: str, method: str, function: Any) -> None:
    _, first, *_ = inspect.signature(function).parameters.values()
    assert (first.name, get_type_hints(function)["scope"]) == ("scope", Scope)
    assert first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert first.default is inspect.Parameter.empty


def test_the_ports_of_somebodys_data_are_known() -> None:
    """A port that is missing here has not been reviewed."""
    assert {name for name, _ in protocols()} - NOBODYS == {
        "ArchiveStore",
        "AttachmentStore",
        "BlobStore",
        "CarryStore",
        "ConversationStore",
        "DocumentStore",
        "DiagnosisStore",
        "DirectoryAdmin",
        "EmbeddingCache",
        "Eraser",
        "Hydrator",
        "ImportStore",
        "JobStore",
        "MemoryStore",
        "MessageHits",
        "MessageChunkStore",
        "ReconcileStore",
        "RememberedConversations",
        "TurnStore",
        "VectorIndex",
    }


def test_no_port_that_asks_for_no_scope_takes_or_returns_anybodys_words() -> None:
    for name, port in protocols():
        if name in NOBODYS:
            hints = [function.__annotations__ for function in vars(port).values() if inspect.isfunction(function)]
            assert not WORDS.search(" ".join(str(hint) for each in hints for hint in each.values())), name


def test_a_scope_that_is_made_by_hand_is_refused() -> None:
    with pytest.raises(TypeError, match="only authorize"):
        Scope("acme", "visitor:v1", "visitor:v1", 0, Action.READ, identity._Seal())


def test_a_scope_cannot_be_bent() -> None:
    import copy
    import dataclasses
    import pickle

    caller = Visitor("acme", "docs", "v1")
    scope = authorize(caller, Action.READ, own(caller))
    with pytest.raises(dataclasses.FrozenInstanceError):
        scope.org = "zeta"  # type: ignore[misc]  # the point
    with pytest.raises(TypeError):
        pickle.loads(pickle.dumps(scope)).__post_init__()
    assert copy.copy(scope) == scope


def test_nobody_else_names_the_seal_or_makes_a_scope() -> None:
    others = [path for path in PACKAGE.rglob("*.py") if path != Path(identity.__file__)]
    assert [path.name for path in others if makes_scopes(path)] == []


def makes_scopes(path: Path) -> bool:
    tree = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    called = {node.func.id for node in tree if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    named = {node.attr for node in tree if isinstance(node, ast.Attribute)}
    imported = {name.name for node in tree if isinstance(node, ast.ImportFrom) for name in node.names}
    return "Scope" in called or bool({"_SEAL", "_Seal"} & (named | imported | called))


def test_no_store_reads_a_whole_table() -> None:
    whole = re.compile(r"""get_paginator\(["']scan|\.scan\(\s*TableName""")
    assert [path.name for path in PACKAGE.rglob("*.py") if whole.search(path.read_text(encoding="utf-8"))] == []


GOOD = """
from fencepost.identity.domain.scope import Scope
from fencepost.conversations.domain.messages import Conversation
from fencepost.conversations.ports import ConversationStore

def read(store: ConversationStore, scope: Scope) -> Conversation | None:
    return store.get(scope, "c1")
"""
BAD = {
    "no scope": ('store.get("c1")', "call-arg"),
    "words in its place": ('store.get("acme", "c1")', "arg-type"),
    "somebody in its place": ('store.get(Visitor("acme", "docs", "v1"), "c1")', "arg-type"),
    "none": ('store.get(None, "c1")', "arg-type"),
    "a scope without a seal": ('Scope("acme", "o", "o", 0, Action.READ)', "call-arg"),
    "a scope with another seal": ('Scope("acme", "o", "o", 0, Action.READ, object())', "arg-type"),
    "a scope that is bent": ('setattr(scope, "org", "zeta"); scope.org = "zeta"', "misc"),
}


def test_the_type_checker_refuses_what_has_no_scope(tmp_path: Path) -> None:
    """One run for all: `mypy --strict` names each of the bad lines by its code, and finds nothing in the good ones."""
    lines = [
        "from fencepost.identity.domain.scope import Action, Scope, Visitor",
        "from fencepost.conversations.ports import ConversationStore",
        "def read(store: ConversationStore, scope: Scope) -> None:",
        *(f"    {call}" for call, _ in BAD.values()),
    ]
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text("\n".join(lines) + "\n")
    found = _checked(tmp_path)
    assert "good.py" not in found
    for place, (_, code) in enumerate(BAD.values(), start=4):
        errors = [line for line in found.splitlines() if f"bad.py:{place}:" in line and "error" in line]
        assert any(line.endswith(f"[{code}]") for line in errors), found


def _checked(folder: Path) -> str:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent", "."]
    environment = {"MYPYPATH": str(ROOT / "layers/core/python"), "PATH": ""}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout
