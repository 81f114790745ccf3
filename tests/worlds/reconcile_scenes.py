"""What index and tables hold as tests of the reconciler begin, and what may be wrong between them."""

from __future__ import annotations

from collections import Counter

from fencepost.jobs.domain.index_diff import Finding
from fencepost.retrieval.domain.search import IndexEntry
from tests.fakes.index import vector_of
from tests.worlds.reconcile import ReconcileWorld

TEXT = "Alpha.\n\nBeta.\n\nGamma."


def told(world: ReconcileWorld, org: str = "acme") -> ReconcileWorld:
    """Let an organisation have a document and a conversation, both in the index."""
    world.write(TEXT, "d1", org)
    world.say("where is alpha", "alpha is here", "c1", "v1", org)
    world.settle()
    return world


def orphan(world: ReconcileWorld, parent: str, owner: str = "") -> str:
    """Put an entry into the index that no row knows."""
    name = f"x{len(world.index.entries):05d}"
    world.index.entries[name] = unknown(world, parent, owner)
    return name


def unknown(world: ReconcileWorld, parent: str, owner: str = "") -> IndexEntry:
    """Return an entry that no row knows."""
    return IndexEntry(
        chunk="x#0",
        org="acme",
        owner=owner,
        kind="message" if owner else "document",
        parent=parent,
        version=1,
        text="orphan",
        model=world.model,
        vector=vector_of("orphan"),
    )


def first_of(world: ReconcileWorld, parent: str) -> str:
    """Return what the index calls the first entry of a document or conversation."""
    return min(world.index.of(parent))


def spoil(world: ReconcileWorld) -> None:
    """Let something be wrong in each step of a comparison."""
    orphan(world, "gone", "v1")
    del world.index.entries[first_of(world, "d1")]
    del world.index.entries[first_of(world, "c1")]


def findings(world: ReconcileWorld) -> Counter[Finding]:
    """Make a run at once, and return what it found."""
    return sum((looked.findings for looked in world.reconciler.run()), Counter[Finding]())
