"""What every index asks of the entries that it is given."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.identity.domain.scope import Scope
from fencepost.retrieval.domain.search import EntryKind, IndexEntry


def owner_of(scope: Scope, kind: EntryKind) -> str:
    """Return the owner of what a scope may search or write: documents are the organisation's."""
    return scope.owner if kind == "message" else ""


def require_own(scope: Scope, entries: Iterable[IndexEntry]) -> None:
    """Refuse what a scope may not write.

    Raises:
        ValueError: an entry is of another organisation, or of another owner than its kind has in this scope.
    """
    if any((entry.org, entry.owner) != (scope.org, owner_of(scope, entry.kind)) for entry in entries):
        raise ValueError("an entry is not the scope's")
