"""Erasures, where messages are in an index as well: their entries go before all else that is left of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import batched, chain
from typing import Final, override

from fencepost.conversations.ports import ConversationStore
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.paging import pages
from fencepost.lifecycle.domain.erasures import ErasedKind
from fencepost.lifecycle.ports import Eraser
from fencepost.retrieval.ports import Stored, VectorIndex
from fencepost.retrieval.service.index_errors import index_errors

_PAGE: Final = 500
"""Entries that are listed, or removed, together."""
_TOGETHER: Final = 4 * _PAGE
"""Entries whose conversations are looked for together, each once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorEraser(Eraser):
    """Implements `fencepost.lifecycle.ports.Eraser`: what another removes, and the entries of the same messages as
    `vectors`.

    While there are entries, or the index does not answer, nothing else is swept. Nobody can read any of it: a hit
    without its message is dropped. But the tombstone goes on to say `sweeping`. Were that over, an import could bring
    the conversation back, and what was erased would lie in the index under one that is there, where no verifier looks.
    Entries are told by owner and conversation alone; no row is needed to find them.

    An entry that the index does not list yet, or that a job writes which still runs, is found by the next look. One
    that it lists for a while after it was removed is a leftover until then, and is counted once: as it was removed.

    All methods raise `FencepostError`: also `index_unavailable`, where the index does not answer.

    Attributes:
        rest: removes everything else.
        conversations: tells which are there. Entries of those are nobody's to remove: a conversation may have come
            back by an import, or have begun after everything of its owner was erased.
    """

    rest: Eraser
    index: VectorIndex
    conversations: ConversationStore

    @override
    def forget_conversation(self, scope: Scope, conversation_id: str, now: datetime) -> bool:
        return self.rest.forget_conversation(scope, conversation_id, now)

    @override
    def forget_owner(self, scope: Scope, now: datetime) -> dict[str, int]:
        return self.rest.forget_owner(scope, now)

    @override
    def sweep(self, scope: Scope, conversation_id: str | None, budget: int) -> dict[str, int]:
        """Entries are part of the budget."""
        with index_errors():
            removed = self._remove(scope, conversation_id, budget)
        entries: dict[str, int] = {ErasedKind.VECTORS: removed} if removed else {}
        return entries if removed >= budget else entries | self.rest.sweep(scope, conversation_id, budget - removed)

    @override
    def leftovers(self, scope: Scope, conversation_id: str | None) -> dict[str, int]:
        with index_errors():
            left = sum(len(some) for some in self._orphans(scope, conversation_id))
        return self.rest.leftovers(scope, conversation_id) | ({ErasedKind.VECTORS: left} if left else {})

    def _remove(self, scope: Scope, conversation_id: str | None, budget: int) -> int:
        removed = 0
        for orphans in self._orphans(scope, conversation_id):
            for some in batched(orphans, _PAGE, strict=False):
                removed += self.index.delete(scope, some[: budget - removed])
                if removed >= budget:
                    return removed
        return removed

    def _orphans(self, scope: Scope, conversation_id: str | None) -> Iterator[list[str]]:
        """Yield the stored ids of entries whose conversation is gone, some at a time.

        They are listed before it is looked for: none of them is of a conversation that comes back meanwhile.
        """
        for some in batched(self._listed(scope, conversation_id or ""), _TOGETHER, strict=False):
            parents = {entry.parent for entry in some}
            gone = {parent for parent in parents if self.conversations.get(scope, parent) is None}
            yield [entry.stored_id for entry in some if entry.parent in gone]

    def _listed(self, scope: Scope, conversation_id: str) -> Iterator[Stored]:
        """Return the owner's entries, never a document's: it has no owner. Others may have conversations of this id."""
        listed = pages(lambda at: self.index.listed(scope, at, _PAGE, parent=conversation_id, owner=scope.owner))
        return chain.from_iterable(listed)
