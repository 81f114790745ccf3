"""Entries for tests of an index, and those whose they are."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from fencepost.identity.domain.scope import Action, Operator, Resource, Scope, authorize
from fencepost.retrieval.domain.search import EmbeddingModel, EntryKind, Hit, IndexEntry, Search, Vector
from fencepost.retrieval.ports import Stored, VectorIndex

MODEL: Final = EmbeddingModel(name="test/8", dimensions=8, max_tokens=512)
EVERYBODY: Final = frozenset({"site:*"})
DOCUMENTS: Final = Search(kind="document", grants=EVERYBODY)
MESSAGES: Final = Search(kind="message")
KINDS: Final[tuple[EntryKind, ...]] = ("document", "message")


@dataclass
class Subject:
    """An index under test.

    Attributes:
        settle: waits until what was written can be found.
    """

    index: VectorIndex
    settle: Callable[[], None]

    def write(self, scope: Scope, *entries: IndexEntry) -> tuple[str, ...]:
        """Write, and wait until it can be found."""
        stored = self.index.upsert(scope, entries)
        self.settle()
        return stored


@dataclass
class Owner:
    """Somebody in an organisation of a test's own: tests may share a cluster."""

    org: str = field(default_factory=lambda: f"org-{uuid.uuid4().hex}")
    name: str = "member:u1"

    @property
    def scope(self) -> Scope:
        """A scope of this owner."""
        return authorize(Operator(self.org), Action.WRITE, Resource(self.org, self.name))

    def entry(self, chunk: str = "c1", text: str = "words", kind: EntryKind = "document", **rest: Any) -> IndexEntry:
        """Make an entry of this owner."""
        plain: dict[str, Any] = {
            "owner": self.name if kind == "message" else "",
            "grants": EVERYBODY if kind == "document" else frozenset(),
            "parent": "p1",
            "version": 1,
            "model": MODEL.name,
            "vector": towards(0),
        }
        return IndexEntry(chunk=chunk, org=self.org, kind=kind, text=text, **(plain | rest))


def towards(angle: float) -> Vector:
    """Return a vector of length one, `angle` degrees from the first axis."""
    radians = math.radians(angle)
    return (math.cos(radians), math.sin(radians), *(0.0,) * (MODEL.dimensions - 2))


def chunks(hits: Iterable[Hit | Stored]) -> list[str]:
    """Return what was found."""
    return [hit.chunk for hit in hits]
