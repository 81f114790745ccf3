"""Ports of the reconciler: the organisations that it goes through, and its progress in each."""

from __future__ import annotations

from typing import Protocol

from fencepost.identity.domain.scope import Scope
from fencepost.jobs.domain.index_diff import DiffProgress
from fencepost.kernel.paging import Page


class OrganisationRegistry(Protocol):
    """All organisations by their ids, and the one whose turn was last.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def page(self, *, after: str | None, limit: int) -> Page[str]:
        """Return a page of organisations. Each one that has data is listed; a listed one may have none."""
        ...

    def last_done(self) -> str | None:
        """Return the organisation whose turn was last; None before the first turn."""
        ...

    def done(self, org: str) -> None:
        """Store that an organisation had its turn."""
        ...


class ReconcileStore(Protocol):
    """Progress of each organisation's comparison. Errors are those of `OrganisationRegistry`."""

    def progress(self, scope: Scope) -> DiffProgress:
        """Return where the comparison continues; its beginning if nothing is stored."""
        ...

    def keep(self, scope: Scope, progress: DiffProgress) -> None:
        """Store where the comparison continues."""
        ...
