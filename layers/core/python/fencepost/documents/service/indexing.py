"""Index entries of a document's chunks: written, noted in the chunks' rows, and confirmed to be found by searches."""

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
"""How often the index is asked whether it shows new entries, a second apart, before the job fails and is retried."""


@dataclass(slots=True, kw_only=True)
class Indexing:
    """Writes the index entries of a document whose lease the caller holds.

    Attributes:
        entry: fingerprint of entries as they are made now (`fencepost.documents.domain.entries.fingerprint`).
        kept: ids of all entries that rows refer to.
        unconfirmed: ids of those entries that searches may not find yet.
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
        """Add the entries that rows refer to to `kept`."""
        self.kept.update(one for row in rows for one in row.entry_ids)

    def write(self, rows: Sequence[ChunkRow]) -> Sequence[ChunkRow]:
        """Embed chunks, write their entries, and store and return their rows with the entries' ids."""
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

    def discard_newer_entry(self, row: ChunkRow) -> ChunkRow:
        """Return a row with its older entry only, and delete the newer one, which is outdated and may not be found yet.

        A row without an older entry is returned as it is.
        """
        if not row.stale_id:
            return row
        self.rows.delete_entries(self.scope, [row.stored_id])
        return replace(row, stored_id=row.stale_id, stale_id="")

    def remove_orphans(self) -> int:
        """Remove entries that no row refers to, and return their number.

        An attempt that ends between writing entries and rows leaves such entries behind.
        """
        return self.rows.remove_entries(self.scope, self.document.id, frozenset(self.kept))

    def confirm(self) -> None:
        """Wait until searches find all entries that were written.

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
        """Return vectors by chunk id; those that rows hold and that are still right are not made again."""
        known = {row.id: row.vector for row in rows if has_vector(row, self.entry)}
        missing = [row for row in rows if row.id not in known]
        texts = [passage(self.document, row) for row in missing]
        made = self.embedder.passages(self.scope, texts) if texts else ()
        return known | {row.id: vector for row, vector in zip(missing, made, strict=True)}


PAGE: Final = 200
"""Rows or entries per request."""


@dataclass(frozen=True, slots=True)
class DocumentRows:
    """The chunk rows of documents together with their index entries. Raises the errors of both ports."""

    store: DocumentStore
    index: VectorIndex

    def pages(self, scope: Scope, document_id: str) -> Iterator[Sequence[ChunkRow]]:
        """Yield all rows of a document, page by page. The caller may remove rows of a page before it takes the next."""
        return pages(lambda after: self.store.chunks(scope, document_id, after=after, limit=PAGE))

    def drop(self, scope: Scope, document_id: str, rows: Sequence[ChunkRow]) -> None:
        """Remove rows and their entries; entries first, since only a row knows its entries' ids."""
        if rows:
            self.delete_entries(scope, [one for row in rows for one in row.entry_ids])
            self.store.drop_chunks(scope, document_id, [row.id for row in rows])

    def remove_entries(self, scope: Scope, document_id: str, keep: frozenset[str]) -> int:
        """Remove all entries that the index lists for the document, except those to keep; return their number."""
        removed = 0
        for entries in self.entries(scope, document_id):
            orphans = [entry.stored_id for entry in entries if entry.stored_id not in keep]
            self.delete_entries(scope, orphans)
            removed += len(orphans)
        return removed

    def entries(self, scope: Scope, document_id: str) -> Iterator[Sequence[Stored]]:
        """Yield all entries that the index lists for a document, page by page.

        The caller may remove entries of a page before it takes the next.
        """
        for entries in pages(lambda after: self.index.listed(scope, after, PAGE, parent=document_id)):
            # Entries with an owner belong to a conversation that happens to have the same id.
            yield [entry for entry in entries if not entry.owner]

    def delete_entries(self, scope: Scope, stored_ids: Sequence[str]) -> None:
        """Remove entries. Empty ids are skipped."""
        if present := [stored_id for stored_id in stored_ids if stored_id]:
            self.index.delete(scope, present)

    def put(self, scope: Scope, document_id: str, rows: Sequence[ChunkRow]) -> None:
        """Store rows. Sends no request for none."""
        if rows:
            self.store.put_chunks(scope, document_id, rows)
