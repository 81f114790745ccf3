"""Every public method of a store's port is called by a test of its conformance suite."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.conversations.ports import AttachmentStore, ConversationStore
from fencepost.documents.ports import DocumentStore, DueDocumentStore
from fencepost.identity.ports import Directory, DirectoryAdmin
from fencepost.jobs.ports import OrganisationRegistry, ReconcileStore
from fencepost.lifecycle.ports import ArchiveStore, CarryStore, DiagnosisStore, ImportStore
from fencepost.memory.ports import MemoryStore, MessageChunkStore, MessageHits, RememberedConversations
from fencepost.queue.ports import JobStore
from fencepost.turns.ports import TurnStore
from tests import conformance

_SUITES = Path(conformance.__file__).parent
_CASES: tuple[tuple[type, str, tuple[str, ...]], ...] = (
    (DocumentStore, "subject", ("corpus",)),
    (DueDocumentStore, "agenda", ("corpus",)),
    (Directory, "subject", ("directory",)),
    (DirectoryAdmin, "admin", ("directory",)),
    (JobStore, "subject", ("jobs",)),
    (TurnStore, "subject", ("turns", "settlements")),
    (ConversationStore, "subject", ("conversations", "messages")),
    (DiagnosisStore, "subject", ("diagnoses",)),
    (OrganisationRegistry, "subject", ("reconciling",)),
    (ReconcileStore, "subject", ("reconciling",)),
    (MessageChunkStore, "subject", ("parts",)),
    (RememberedConversations, "remembered", ("parts",)),
    (MessageHits, "hits", ("parts",)),
    (CarryStore, "subject", ("carrying",)),
    (ArchiveStore, "subject", ("archives",)),
    (ImportStore, "subject", ("imports",)),
    (AttachmentStore, "attachments", ("imports",)),
    (MemoryStore, "subject", ("facts", "memory")),
)
"""Each port, the fixture that implements it, and the modules of its suite."""


def _tests(module: str) -> Iterator[ast.FunctionDef]:
    tree = ast.parse((_SUITES / f"{module}.py").read_text(encoding="utf-8"))
    for suite in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        for member in suite.body:
            if isinstance(member, ast.FunctionDef) and member.name.startswith("test_"):
                yield member


def _called(module: str, fixture: str) -> set[str]:
    """Return the methods that a suite's tests call on a fixture, as in `subject.load(…)`."""
    calls = (node for test in _tests(module) for node in ast.walk(test) if isinstance(node, ast.Call))
    methods = (call.func for call in calls if isinstance(call.func, ast.Attribute))
    return {one.attr for one in methods if isinstance(one.value, ast.Name) and one.value.id == fixture}


def _methods(port: type) -> set[str]:
    return {name for name, member in vars(port).items() if callable(member) and not name.startswith("_")}


@pytest.mark.parametrize(("port", "fixture", "modules"), _CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_every_method_of_a_port_is_called_by_its_suite(port: type, fixture: str, modules: tuple[str, ...]) -> None:
    called = set[str]().union(*(_called(module, fixture) for module in modules))
    assert _methods(port)
    assert _methods(port) - called == set()
