"""Ownership rules of entries, common to all indexes."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.identity.domain.scope import Scope
from fencepost.retrieval.domain.search import EntryKind, IndexEntry


def owner_of(scope: Scope, kind: EntryKind) -> str:
    """Return the owner of a scope's entries of one kind: empty for documents, which belong to the organisation."""
    return scope.owner if kind == "message" else ""


def require_own(scope: Scope, entries: Iterable[IndexEntry]) -> None:
    """Refuse entries that a scope may not write.

    Raises:
        ValueError: an entry is of another organisation, or has another owner than `owner_of` the scope and its kind.
    """
    if any((entry.org, entry.owner) != (scope.org, owner_of(scope, entry.kind)) for entry in entries):
        raise ValueError("an entry is not the scope's")
