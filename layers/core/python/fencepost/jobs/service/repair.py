"""Repair a document's rows and entries from its rows, without fetching its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import batched

from fencepost.documents.domain.documents import ChunkRow, Document, is_at_rest, is_settled
from fencepost.documents.ports import DocumentStore
from fencepost.documents.service.document_jobs import document_job, document_lease, store_change
from fencepost.documents.service.indexing import Indexing
from fencepost.documents.service.ingest import SLICE
from fencepost.documents.service.version_build import BATCH
from fencepost.documents.service.versions import Versions
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock
from fencepost.queue.domain import Job, Purpose
from fencepost.queue.ports import JobQueue
from fencepost.retrieval.ports import Stored
from fencepost.retrieval.service.index_errors import index_errors


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRepair:
    """Repairs documents at rest. A version that is being built belongs to its builder.

    New entries are written first, and the entries that they replace are removed once searches find the new ones. A
    repair that was interrupted continues with the next one.

    Attributes:
        slice: time of one job (`fencepost.documents.service.ingest.SLICE`).
    """

    store: DocumentStore
    versions: Versions
    queue: JobQueue
    clock: Clock
    slice: timedelta = SLICE

    def run(self, scope: Scope, job: Job) -> None:
        """Compare a document's rows with its entries, and write or remove those that are wrong.

        Raises:
            FencepostError: `document_busy`, another worker or an admin is changing the document; `index_unavailable`,
                also where the document changed so recently that the index may not show it yet; `embedder_unavailable`
                or `conversations_unavailable`. A retry may succeed.
        """
        with document_lease(self.store, scope, job.document or "", self.clock), index_errors():
            document = self.store.get(scope, job.document or "")
            if document and is_at_rest(document):
                self._repair(scope, document)

    def _repair(self, scope: Scope, document: Document) -> None:
        if not is_settled(document, self.clock()):
            raise FencepostError(ErrorCode.INDEX_UNAVAILABLE)
        repair = _Repair(self, scope, self.versions.indexing(scope, document), document)
        if repair.write(self.clock() + self.slice):
            repair.finish()
        else:
            self.queue.send([document_job(scope, document.id, Purpose.REPAIR, self.clock)])


@dataclass(slots=True)
class _Repair:
    """One attempt to repair a document.

    Attributes:
        document: the document as its row is now; `indexing` holds it as it was at the beginning.
    """

    service: DocumentRepair
    scope: Scope
    indexing: Indexing
    document: Document

    def write(self, until: datetime) -> bool:
        """Write entries that are missing or wrong; False if the time was over before all were written."""
        listed = self.indexing.rows.entries(self.scope, self.document.id)
        entries = {entry.stored_id: entry for page in listed for entry in page}
        for rows in self.indexing.rows.pages(self.scope, self.document.id):
            for batch in self._outdated(rows, entries):
                if self.service.clock() >= until:
                    return False
                self._touch()
                self.indexing.write([self.indexing.discard_newer_entry(row) for row in batch])
        return True

    def finish(self) -> None:
        """Remove entries and rows of earlier versions, after searches find the new entries."""
        self.indexing.confirm()
        self.indexing.remove_orphans()
        made = replace(self.document, model=self.indexing.embedder.model.name, entry=self.indexing.entry)
        if made != self.document:
            self._change(made)
        self.service.versions.clean(self.scope, self.document)

    def _outdated(self, rows: Sequence[ChunkRow], entries: Mapping[str, Stored]) -> Iterator[Sequence[ChunkRow]]:
        """Remove rows that are part of no current version, and yield batches of rows whose entry is missing or wrong.

        Args:
            rows: a page of the document's rows.
            entries: all of the document's entries, by their ids.
        """
        current = [row for row in rows if row.is_part_of(self.document.version)]
        expired = [row for row in rows if not row.is_part_of(self.document.version)]
        self.indexing.rows.drop(self.scope, self.document.id, expired)
        outdated = [row for row in current if not self._is_current(row, entries.get(row.stored_id))]
        self.indexing.note([row for row in current if row not in outdated])
        yield from batched(outdated, BATCH, strict=False)

    def _is_current(self, row: ChunkRow, entry: Stored | None) -> bool:
        """Tell whether an entry is what would be written for its row now."""
        model = self.indexing.embedder.model.name
        if entry is None or (row.entry, row.model) != (self.indexing.entry, model):
            return False
        return (entry.chunk, entry.version, entry.model) == (row.id, row.since, model)

    def _touch(self) -> None:
        """Date the document's row, so that comparisons skip it until the index shows the new entries."""
        if is_settled(self.document, self.service.clock()):
            self._change(self.document)

    def _change(self, after: Document) -> None:
        self.document = store_change(self.service.store, self.scope, self.document, after, self.service.clock)
