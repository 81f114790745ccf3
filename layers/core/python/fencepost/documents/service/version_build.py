"""Building a document's next version. `fencepost.documents.service.versions` states the order and its guarantees."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, batched
from typing import Final

from fencepost.documents.domain.documents import Chunk, ChunkAction, ChunkRow, Document, DocumentOrigin, chunk_action
from fencepost.documents.domain.sections import split_document
from fencepost.documents.ports import ChunkVersionPlace
from fencepost.documents.service.indexing import DocumentRows, Indexing
from fencepost.identity.domain.scope import Scope

type ReportProgress = Callable[[int, int], None]
"""Receives the number of indexed chunks and the number of all chunks, after each batch. Raising stops the build."""

BATCH: Final = 64
"""Chunks that are written, embedded and indexed together."""


@dataclass(slots=True, kw_only=True)
class VersionBuild:
    """One attempt to build a version.

    Attributes:
        indexing: writes the document's index entries.
        text: canonical text of the version.
        chunks: chunks of the text.
        report_progress: see `ReportProgress`.
        listed_entries: ids of all entries that the index lists for the document, if an earlier attempt ended long
            enough ago that the index lists everything that it still has of that attempt; else None.
        chunks_by_id: the chunks that get rows; of equal ids, the last.
        address: returns the address of the page that a chunk stands on.
        indexed: ids of chunks whose rows and entries are written.
    """

    indexing: Indexing
    text: str
    chunks: Sequence[Chunk]
    report_progress: ReportProgress
    listed_entries: frozenset[str] | None = None
    chunks_by_id: Mapping[str, Chunk] = field(init=False)
    address: Callable[[Chunk], str] = field(init=False)
    indexed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.chunks_by_id = {chunk.id: chunk for chunk in self.chunks}
        self.address = _page_address(self.document, self.text)

    @property
    def rows(self) -> DocumentRows:
        """The rows and entries of documents."""
        return self.indexing.rows

    @property
    def scope(self) -> Scope:
        """The scope of the document's organisation."""
        return self.indexing.scope

    @property
    def document(self) -> Document:
        """The document whose version is built."""
        return self.indexing.document

    def update_existing(self) -> None:
        """Apply the chunk action of each existing row: mark, remove, or bring its entry up to date."""
        for rows in self.rows.pages(self.scope, self.document.id):
            self._apply_actions(rows)

    def write_new(self) -> None:
        """Write and index the chunks that have no rows."""
        new = [self._new_row(chunk) for chunk in self.chunks_by_id.values() if chunk.id not in self.indexed]
        for batch in batched(new, BATCH, strict=False):
            self.rows.store.put_chunks(self.scope, self.document.id, batch)
            self._index(batch)

    def confirm(self) -> None:
        """Wait until searches find all entries that were written.

        Raises:
            FencepostError: `index_unavailable`; it takes longer than a job should wait.
        """
        self._report()
        self.indexing.confirm()

    def place(self) -> None:
        """Write the chunk places of the version."""
        places = {
            chunk.id: ChunkVersionPlace(ordinal=ordinal, start=chunk.start, end=chunk.end)
            for ordinal, chunk in enumerate(self.chunks_by_id.values())
        }
        self.rows.store.put_places(self.scope, self.document.id, self.document.next_version, places)

    def _apply_actions(self, rows: Sequence[ChunkRow]) -> None:
        by_action: dict[ChunkAction, list[ChunkRow]] = {action: [] for action in ChunkAction}
        for row in rows:
            by_action[chunk_action(row, self.document, self.chunks_by_id)].append(row)
        self.rows.drop(
            self.scope, self.document.id, [*by_action[ChunkAction.LEFT_OVER], *by_action[ChunkAction.ORPHAN]]
        )
        vanishing = [replace(row, until=self.document.next_version) for row in by_action[ChunkAction.VANISHES]]
        returned = [replace(row, until=None) for row in by_action[ChunkAction.RETURNED]]
        self.rows.put(self.scope, self.document.id, [*vanishing, *returned])
        self.indexing.note([*vanishing, *by_action[ChunkAction.VANISHING]])
        self._keep([*by_action[ChunkAction.KEPT], *returned])

    def _keep(self, rows: Sequence[ChunkRow]) -> None:
        """Index those rows again whose entries are missing, outdated or lost."""
        indexing = self.indexing
        self.indexed.update(row.id for row in rows)
        current = [row for row in rows if row.stored_id and row.entry == indexing.entry]
        indexing.note(current)
        # Entries of an earlier attempt at this version, which no search may have found yet.
        recent = [row for row in current if row.since > self.document.version or row.stale_id]
        listed = self.listed_entries
        lost = {row.id for row in recent if listed is not None and row.stored_id not in listed}
        indexing.unconfirmed.update(row.stored_id for row in recent if row.id not in lost)
        up_to_date = {row.id for row in current} - lost
        for batch in batched((row for row in rows if row.id not in up_to_date), BATCH, strict=False):
            self._index([indexing.discard_newer_entry(row) for row in batch])

    def _index(self, rows: Sequence[ChunkRow]) -> None:
        self.indexing.write(rows)
        self.indexed.update(row.id for row in rows)
        self._report()

    def _report(self) -> None:
        self.report_progress(len(self.indexed), len(self.chunks_by_id))

    def _new_row(self, chunk: Chunk) -> ChunkRow:
        return ChunkRow(
            id=chunk.id,
            document=self.document.id,
            text=chunk.text,
            breadcrumb=chunk.breadcrumb,
            lead=chunk.lead,
            since=self.document.next_version,
            url=self.address(chunk),
        )


def _page_address(document: Document, text: str) -> Callable[[Chunk], str]:
    """Return a function from a chunk to its page's address; empty for documents that are a single page."""
    if document.origin is not DocumentOrigin.LLMS_FULL:
        return lambda _chunk: ""
    sections = split_document(text, document.source.rpartition("/")[0]).sections
    starts = list(accumulate((len(section.text) for section in sections), initial=0))
    return lambda chunk: sections[min(bisect_right(starts, chunk.start), len(sections)) - 1].url if sections else ""
