"""A thousand random operations with random faults, then one run of the reconciler: index and tables agree."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random

import pytest

from fencepost.documents.domain.documents import STUCK_AFTER, DocumentState
from fencepost.identity.domain.scope import Acl, Audience
from fencepost.kernel.errors import FencepostError
from fencepost.retrieval.domain.search import IndexEntry
from tests.fakes.reconcile import ORGS, RandomFaults
from tests.worlds.reconcile import ReconcileWorld
from tests.worlds.reconcile_scenes import unknown
from tests.worlds.thoroughness import examples

OPERATIONS = 1_000
FAULT_RATE = 0.03
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
MODELS = ("fake/16", "fake-2/16", "fake-3/16")


@dataclass
class Life:
    """What happens to a deployment, by chance."""

    seed: int
    orphans: int = 0
    world: ReconcileWorld = field(init=False)
    rng: Random = field(init=False)

    def __post_init__(self) -> None:
        self.rng = Random(self.seed)
        self.world = ReconcileWorld(faults=RandomFaults(rng=self.rng, rate=FAULT_RATE))

    def step(self) -> None:
        """Let something happen."""
        often = {self.deliver: 10, self.write: 4, self.say: 6, self.wait: 3, self.reconcile: 1, self.queue_due: 1}
        rarely = {self.rename: 2, self.remove: 1, self.erase: 1, self.hide: 1, self.lose: 1, self.orphan: 2}
        chances: dict[Callable[[], None], float] = {**often, **rarely, self.age: 1, self.change_model: 0.1}
        (happens,) = self.rng.choices(list(chances), list(chances.values()))
        happens()

    def deliver(self) -> None:
        for _ in range(self.rng.randint(1, 3)):
            if jobs := self.world.queue.jobs:
                self.world.deliver(self.rng.randrange(len(jobs)))

    def write(self) -> None:
        org, name = self.rng.choice(ORGS), f"d{self.rng.randint(1, 8)}"
        if self._state(org, name) is not DocumentState.REMOVED:
            self.world.write(self._text("\n\n"), name, org)

    def rename(self) -> None:
        org, name = self.rng.choice(ORGS), f"d{self.rng.randint(1, 8)}"
        if self._state(org, name) not in (None, DocumentState.REMOVED):
            acl = Acl(audience=self.rng.choice((Audience.SITE, Audience.ORGANISATION)))
            self.world.write(self._text("\n\n"), name, org, title=self.rng.choice(WORDS), acl=acl)

    def remove(self) -> None:
        if places := sorted(self.world.documents.store.documents):
            org, name = self.rng.choice(places)
            self.world.remove(name, org)

    def say(self) -> None:
        talk, owner, org = self.rng.choice(("c1", "c2", "c3")), self.rng.choice(("v1", "v2")), self.rng.choice(ORGS)
        self.world.say(self._text(" "), self._text("\n\n"), talk, owner, org)

    def erase(self) -> None:
        if places := sorted(self.world.shelf.conversations):
            self.world.erase(self.rng.choice(places))

    def hide(self) -> None:
        if places := sorted(self.world.shelf.conversations):
            self.world.hide(self.rng.choice(places), self.rng.randint(1, 3))

    def lose(self) -> None:
        """Let the index lose entries."""
        entries = self.world.index.entries
        for one in self.rng.sample(sorted(entries), min(len(entries), 3)):
            del entries[one]

    def orphan(self) -> None:
        """Add orphans to the index: copies of entries, and entries of unknown parents."""
        entries = self.world.index.entries
        self.orphans += 1
        if entries and self.rng.random() < 0.7:
            entries[f"x{self.orphans:05d}"] = entries[self.rng.choice(sorted(entries))]
        else:
            entries[f"x{self.orphans:05d}"] = self._unknown()

    def age(self) -> None:
        """Let an entry become one of another version, or of another model."""
        entries = self.world.index.entries
        if entries:
            one = self.rng.choice(sorted(entries))
            changes = self.rng.choice(({"version": 77}, {"model": "old/16"}))
            entries[one] = replace(entries[one], **changes)

    def change_model(self) -> None:
        self.world.change_model(self.rng.choice(MODELS))

    def wait(self) -> None:
        self.world.clock.advance(self.rng.choice((1, 30, 200, 1_000)))

    def queue_due(self) -> None:
        with suppress(FencepostError):
            self.world.queue_due()

    def reconcile(self) -> None:
        with suppress(FencepostError):
            list(self.world.reconciler.run())

    def calm(self) -> None:
        """Stop all faults and let pending work end, by the schedule. Disagreements remain."""
        self.world.faults.rate = 0
        self.world.faults.due.clear()
        for _ in range(2):
            self.world.clock.advance(STUCK_AFTER.total_seconds())
            self.world.queue_due()
            self.world.settle()
        for happens in (self.lose, self.lose, self.lose, self.orphan, self.age):
            happens()

    def _state(self, org: str, name: str) -> DocumentState | None:
        known = self.world.documents.store.documents.get((org, name))
        return known.state if known else None

    def _text(self, between: str) -> str:
        return between.join(self.rng.choice(WORDS) for _ in range(self.rng.randint(1, 7)))

    def _unknown(self) -> IndexEntry:
        owner, org = self.rng.choice(("", "v1", "v9")), self.rng.choice(ORGS)
        parent = self.rng.choice(("d1", "c1", "gone"))
        return replace(unknown(self.world, parent, owner), org=org, chunk=f"{self.orphans}#0")


@pytest.mark.parametrize("seed", range(examples(9)))
def test_after_any_operations_one_run_makes_index_and_tables_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    life = Life(seed)
    for _ in range(OPERATIONS):
        life.step()
    life.calm()

    for limit in ("READS", "REPAIRS"):
        monkeypatch.setattr(f"fencepost.jobs.service.reconciler.{limit}", OPERATIONS**2)
    # A complete one: what went on from the middle would see the rest alone.
    life.world.progress.kept.clear()
    found = life.world.found()
    life.world.settle()

    life.world.require_agreement()
    assert found.total() > 0, "there was nothing to repair"
    assert life.world.index.entries
    assert not life.world.found(), "a second run finds something"
