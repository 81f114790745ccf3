"""A document's rows and entries, brought into agreement again from the rows: its source is not asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import batched

from fencepost.documents.domain.documents import ChunkRow, Document, is_at_rest, is_settled
from fencepost.documents.ports import DocumentStore
from fencepost.documents.service.document_jobs import changed, document_job, working
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
    """Repairs documents on which no other work is under way: a version that is being built is its builder's.

    New entries come first, and what they take the place of goes when searches find them. A repair that ended anywhere
    goes on with the next one.

    Attributes:
        slice: see `fencepost.documents.service.ingest.SLICE`.
    """

    store: DocumentStore
    versions: Versions
    queue: JobQueue
    clock: Clock
    slice: timedelta = SLICE

    def run(self, scope: Scope, job: Job) -> None:
        """Compare a document's rows with its entries, and write anew, or remove, whatever is not as it should be.

        Raises:
            FencepostError: `document_busy`, another worker or an admin is at it; `index_unavailable`, also where the
                document changed so lately that the index may not show it yet; `embedder_unavailable` or
                `conversations_unavailable`. Later may do.
        """
        with working(self.store, scope, job.document or "", self.clock), index_errors():
            document = self.store.get(scope, job.document or "")
            if document and is_at_rest(document):
                self._begin(scope, document)

    def _begin(self, scope: Scope, document: Document) -> None:
        if not is_settled(document, self.clock()):
            raise FencepostError(ErrorCode.INDEX_UNAVAILABLE)
        repair = _Repair(self, scope, self.versions.indexing(scope, document), document)
        if repair.write(self.clock() + self.slice):
            repair.finish()
        else:
            self.queue.send([document_job(scope, document.id, Purpose.REPAIR, self.clock)])


@dataclass(slots=True)
class _Repair:
    """One attempt at a document.

    Attributes:
        document: as its row is by now; `indexing` has it as it was.
    """

    service: DocumentRepair
    scope: Scope
    indexing: Indexing
    document: Document

    def write(self, until: datetime) -> bool:
        """Write what is missing or wrong; False where the time was over before that was done."""
        listed = self.indexing.rows.entries(self.scope, self.document.id)
        shown = {entry.stored_id: entry for page in listed for entry in page}
        for rows in self.indexing.rows.pages(self.scope, self.document.id):
            for some in self._wrong(rows, shown):
                if self.service.clock() >= until:
                    return False
                self._touch()
                self.indexing.write([self.indexing.unhurried(row) for row in some])
        return True

    def finish(self) -> None:
        """Remove what is left of before, when searches find what was written."""
        self.indexing.confirm()
        self.indexing.remove_orphans()
        made = replace(self.document, model=self.indexing.embedder.model.name, entry=self.indexing.entry)
        if made != self.document:
            self._change(made)
        self.service.versions.clean(self.scope, self.document)

    def _wrong(self, rows: Sequence[ChunkRow], shown: Mapping[str, Stored]) -> Iterator[Sequence[ChunkRow]]:
        """Remove rows that are part of no version that anybody reads; yield those that are not right, some at once."""
        current = [row for row in rows if row.is_part_of(self.document.version)]
        gone = [row for row in rows if not row.is_part_of(self.document.version)]
        self.indexing.rows.drop(self.scope, self.document.id, gone)
        wrong = [row for row in current if not self._is_right(row, shown.get(row.stored_id))]
        self.indexing.note([row for row in current if row not in wrong])
        yield from batched(wrong, BATCH, strict=False)

    def _is_right(self, row: ChunkRow, entry: Stored | None) -> bool:
        model = self.indexing.embedder.model.name
        if entry is None or (row.entry, row.model) != (self.indexing.entry, model):
            return False
        return (entry.chunk, entry.version, entry.model) == (row.id, row.since, model)

    def _touch(self) -> None:
        """Say that the document changes: until the index shows it, nobody takes what is written for lost."""
        if is_settled(self.document, self.service.clock()):
            self._change(self.document)

    def _change(self, after: Document) -> None:
        self.document = changed(self.service.store, self.scope, self.document, after, self.service.clock)
