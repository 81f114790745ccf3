"""The port between hits and the rows that they lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fencepost.identity.domain.scope import Scope
from fencepost.retrieval.domain.ranking.fusion import FusionKey
from fencepost.retrieval.domain.search import Hit, Passage


@dataclass(frozen=True, slots=True)
class Hydrated:
    """What became of hits.

    Attributes:
        passages: those that are there, are current and may be read.
        dead: hits whose rows are gone for good: their entries are to be removed. One that may not be read, or is not
            read yet, is in neither.
    """

    passages: Mapping[FusionKey, Passage] = field(default_factory=dict)
    dead: tuple[Hit, ...] = ()


class Hydrator(Protocol):
    """Reads the rows of one kind of entries. Its methods raise `FencepostError` where a store does not answer."""

    def hydrate(self, scope: Scope, grants: frozenset[str], hits: Sequence[Hit]) -> Hydrated:
        """Return what the hits lead to, in one step of the store."""
        ...

    def finish(self, scope: Scope, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """Add to chosen passages what only those that are shown need, in one step of the store at most."""
        ...
