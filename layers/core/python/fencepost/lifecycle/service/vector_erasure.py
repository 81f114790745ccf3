"""Erasure of messages that are in a vector index: index entries are removed before all other leftovers."""

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
from fencepost.retrieval.ports import VectorIndex
from fencepost.retrieval.service.index_errors import index_errors

_PAGE: Final = 500
"""Entries in one page of a list, or in one deletion."""
_CHECKED_TOGETHER: Final = 4 * _PAGE
"""Entries whose conversations are looked up together, each once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorEraser(Eraser):
    """Removes the index entries of erased messages, counted as `vectors`, and lets another eraser do the rest.

    Nothing else is swept while entries are left or the index does not answer. Until then the conversation's tombstone
    is `sweeping`, so no import can make the conversation again. Otherwise erased entries would belong to an existing
    conversation, where no verifier looks for them. The entries are unreadable meanwhile: a hit without its message is
    dropped. Entries are found by owner and conversation; no row is needed.

    An entry that the index does not list yet, or that a running job still writes, is found by the next scan. An entry
    that the index still lists after its removal is a leftover until it disappears, and is counted as removed once.

    All methods also raise `FencepostError` with `index_unavailable` when the index does not answer.

    Attributes:
        rest: removes rows and objects.
        index: the vector index.
        conversations: tells which conversations exist. Their entries are kept: a conversation may have been imported
            again, or begun after its owner was erased.
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
        """Remove entries first, as part of the budget."""
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
        """Yield the index's ids of entries whose conversation does not exist, in batches.

        Entries are listed before conversations are looked up, so no entry is removed of a conversation that an import
        makes again in the meantime.
        """
        parent = conversation_id or ""
        # By owner as well: another owner's conversation may have the same id, and documents have no owner.
        listed = pages(lambda at: self.index.listed(scope, at, _PAGE, parent=parent, owner=scope.owner))
        for some in batched(chain.from_iterable(listed), _CHECKED_TOGETHER, strict=False):
            parents = {entry.parent for entry in some}
            erased = {one for one in parents if self.conversations.get(scope, one) is None}
            yield [entry.stored_id for entry in some if entry.parent in erased]
