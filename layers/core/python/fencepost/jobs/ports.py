"""Whose index and tables are compared next, and how far that has come."""

from __future__ import annotations

from typing import Protocol

from fencepost.identity.domain.scope import Scope
from fencepost.jobs.domain.index_diff import DiffProgress
from fencepost.kernel.paging import Page


class OrganisationRegistry(Protocol):
    """All organisations, by their ids, for work that goes round them; and whose turn it is.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def page(self, *, after: str | None, limit: int) -> Page[str]:
        """List organisations. One that is listed may have nothing; one that has something is listed."""
        ...

    def last_done(self) -> str | None:
        """Return the organisation that had its turn last; None where none had."""
        ...

    def done(self, org: str) -> None:
        """Remember that an organisation had its turn."""
        ...


class ReconcileStore(Protocol):
    """How far the comparison of each organisation has come. Errors are those of `OrganisationRegistry`."""

    def progress(self, scope: Scope) -> DiffProgress:
        """Return where it goes on; the beginning where it was not begun."""
        ...

    def keep(self, scope: Scope, progress: DiffProgress) -> None:
        """Remember where it goes on."""
        ...
