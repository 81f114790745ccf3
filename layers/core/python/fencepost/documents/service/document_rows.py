"""The rows of a document's chunks, and the entries of the index that they know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from fencepost.documents.domain.documents import ChunkRow
from fencepost.documents.ports import DocumentStore
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.paging import pages
from fencepost.retrieval.ports import Stored, VectorIndex

PAGE: Final = 200
"""Rows, or entries, that are read together."""


@dataclass(frozen=True, slots=True)
class DocumentRows:
    """Reads and removes them. Errors are those of the two ports."""

    store: DocumentStore
    index: VectorIndex

    def pages(self, scope: Scope, document_id: str) -> Iterator[Sequence[ChunkRow]]:
        """Yield all rows of a document, some at a time. They may be removed meanwhile."""
        return pages(lambda after: self.store.chunks(scope, document_id, after=after, limit=PAGE))

    def drop(self, scope: Scope, document_id: str, rows: Sequence[ChunkRow]) -> None:
        """Remove rows, their entries first: a row is what knows them."""
        if rows:
            self.delete_entries(scope, [one for row in rows for one in row.entry_ids])
            self.store.drop_chunks(scope, document_id, [row.id for row in rows])

    def remove_entries(self, scope: Scope, document_id: str, keep: frozenset[str]) -> int:
        """Remove the document's entries that the index lists and nobody keeps, and return how many there were."""
        removed = 0
        for entries in self.entries(scope, document_id):
            lost = [entry.stored_id for entry in entries if entry.stored_id not in keep]
            self.delete_entries(scope, lost)
            removed += len(lost)
        return removed

    def entries(self, scope: Scope, document_id: str) -> Iterator[Sequence[Stored]]:
        """Yield all entries that the index lists of a document, some at a time. They may be removed meanwhile."""
        for entries in pages(lambda after: self.index.listed(scope, after, PAGE, parent=document_id)):
            # A conversation of the same id is none of ours: its entries have an owner.
            yield [entry for entry in entries if not entry.owner]

    def delete_entries(self, scope: Scope, stored_ids: Sequence[str]) -> None:
        """Remove entries; empty ids are none."""
        if there := [one for one in stored_ids if one]:
            self.index.delete(scope, there)

    def put(self, scope: Scope, document_id: str, rows: Sequence[ChunkRow]) -> None:
        """Write rows, if there are any."""
        if rows:
            self.store.put_chunks(scope, document_id, rows)
