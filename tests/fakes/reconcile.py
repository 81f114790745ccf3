"""The registry of organisations and the progress of comparisons in plain memory, and faults by chance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

from fencepost.identity.domain.scope import Scope
from fencepost.jobs.domain.index_diff import DiffProgress
from fencepost.kernel.paging import Page
from tests.fakes.corpus import PortFaults

ORGS = ("acme", "other")


@dataclass
class RandomFaults(PortFaults):
    """Faults at any call.

    Attributes:
        rate: how likely a call fails, before or after it did what it was to do.
    """

    rng: Random = field(default_factory=lambda: Random(1))
    rate: float = 0.0

    @contextmanager
    def call(self, name: str, failure: Exception | None = None) -> Iterator[None]:
        if self.rate and self.rng.random() < self.rate:
            self.due.appendleft(self.rng.choice(("before", "after")))
        with super().call(name, failure):
            yield


class FakeRegistry:
    """Implements `OrganisationRegistry`."""

    def __init__(self, faults: PortFaults, orgs: tuple[str, ...] = ORGS) -> None:
        self.faults, self.orgs, self.last = faults, orgs, ""

    def page(self, *, after: str | None, limit: int) -> Page[str]:
        with self.faults.call("registry"):
            rest = [org for org in sorted(self.orgs) if org > (after or "")]
            return Page(tuple(rest[:limit]), rest[limit - 1] if len(rest) > limit else None)

    def last_done(self) -> str | None:
        with self.faults.call("last_done"):
            return self.last or None

    def done(self, org: str) -> None:
        with self.faults.call("done"):
            self.last = org


class FakeReconcileStore:
    """Implements `ReconcileStore`."""

    def __init__(self, faults: PortFaults) -> None:
        self.faults, self.kept = faults, dict[str, DiffProgress]()

    def progress(self, scope: Scope) -> DiffProgress:
        with self.faults.call("progress"):
            return self.kept.get(scope.org, DiffProgress())

    def keep(self, scope: Scope, progress: DiffProgress) -> None:
        with self.faults.call("keep"):
            self.kept[scope.org] = progress
