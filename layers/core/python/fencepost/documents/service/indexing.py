"""The entries of one document's chunks: written, known by their rows, and shown by the index."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import batched
from typing import Final

from fencepost.documents.domain.documents import ChunkRow, Document
from fencepost.documents.domain.entries import entry_of, fingerprint, has_vector, passage
from fencepost.documents.ports import DocumentStore
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.paging import pages
from fencepost.retrieval.domain.search import Vector
from fencepost.retrieval.ports import Stored, VectorIndex
from fencepost.retrieval.service.embedding import CachedEmbedder

LOOKS: Final = 5
"""How often the index is asked whether it shows what was written, a second apart, before the job comes again later."""


@dataclass(slots=True, kw_only=True)
class Indexing:
    """Writes the entries of a document as it is, under a lease that its caller holds.

    Attributes:
        entry: what entries are made under at present (`fencepost.documents.domain.entries.fingerprint`).
        kept: ids of all entries that some row knows.
        unconfirmed: those of them that searches may not find yet.
    """

    rows: DocumentRows
    embedder: CachedEmbedder
    scope: Scope
    document: Document
    pause: Callable[[float], None] = time.sleep
    entry: str = field(init=False)
    kept: set[str] = field(default_factory=set)
    unconfirmed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.entry = fingerprint(self.document, self.embedder.model.name)

    def note(self, rows: Sequence[ChunkRow]) -> None:
        """Keep what rows know."""
        self.kept.update(one for row in rows for one in row.entry_ids)

    def write(self, rows: Sequence[ChunkRow]) -> Sequence[ChunkRow]:
        """Embed chunks, write their entries, let their rows know these, and return the rows as they then are."""
        document, model = self.document, self.embedder.model.name
        vectors = self._vectors(rows)
        embedded = [replace(row, vector=vectors[row.id], model=model, entry=self.entry) for row in rows]
        ids = self.rows.index.upsert(self.scope, [entry_of(document, row) for row in embedded])
        written = [
            replace(row, stored_id=one, stale_id=row.stored_id if row.stored_id != one else "")
            for row, one in zip(embedded, ids, strict=True)
        ]
        self.rows.store.put_chunks(self.scope, document.id, written)
        self.unconfirmed.update(ids)
        self.note(written)
        return written

    def unhurried(self, row: ChunkRow) -> ChunkRow:
        """Return a row without the entry that was to take the place of another and is itself out of date by now."""
        if not row.stale_id:
            return row
        self.rows.delete_entries(self.scope, [row.stored_id])
        return replace(row, stored_id=row.stale_id, stale_id="")

    def remove_orphans(self) -> int:
        """Remove entries of which no row knows: of an attempt that ended before it could write down what they are."""
        return self.rows.remove_entries(self.scope, self.document.id, frozenset(self.kept))

    def confirm(self) -> None:
        """Wait until searches find what was written.

        Raises:
            FencepostError: `index_unavailable`; it takes longer than a job should wait.
        """
        for look in range(LOOKS):
            if look:
                self.pause(1)
            for some in list(batched(self.unconfirmed, PAGE, strict=False)):
                self.unconfirmed -= self.rows.index.visible(self.scope, some)
            if not self.unconfirmed:
                return
        raise FencepostError(ErrorCode.INDEX_UNAVAILABLE)

    def _vectors(self, rows: Sequence[ChunkRow]) -> Mapping[str, Vector]:
        known = {row.id: row.vector for row in rows if has_vector(row, self.entry)}
        wanted = [row for row in rows if row.id not in known]
        texts = [passage(self.document, row) for row in wanted]
        made = self.embedder.passages(self.scope, texts) if texts else ()
        return known | {row.id: vector for row, vector in zip(wanted, made, strict=True)}


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
