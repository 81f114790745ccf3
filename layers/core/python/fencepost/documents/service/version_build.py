"""One attempt at a document's next version. `fencepost.documents.service.versions` says what it must not break."""

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
"""Is told how many chunks of how many are done, after each indexed batch. What it raises ends the work there."""

BATCH: Final = 64
"""Chunks that are written, embedded and indexed together."""


@dataclass(slots=True, kw_only=True)
class VersionBuild:
    """One attempt at a version.

    Attributes:
        shown: ids of all entries of the document, where an earlier attempt ended so long ago that the index lists what
            it wrote, or has lost it; else None.
        seen: pieces whose rows are there.
    """

    indexing: Indexing
    text: str
    cut: Sequence[Chunk]
    told: ReportProgress
    shown: frozenset[str] | None = None
    pieces: Mapping[str, Chunk] = field(init=False)
    address: Callable[[Chunk], str] = field(init=False)
    seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.pieces = {piece.id: piece for piece in self.cut}
        self.address = _addresses(self.document, self.text)

    @property
    def rows(self) -> DocumentRows:
        """The rows and entries of documents."""
        return self.indexing.rows

    @property
    def scope(self) -> Scope:
        """Of the document's organisation."""
        return self.indexing.scope

    @property
    def document(self) -> Document:
        """Whose version is built."""
        return self.indexing.document

    def sort_rows(self) -> None:
        """Mark what vanishes, remove what belongs to no version, and bring entries up to date."""
        for rows in self.rows.pages(self.scope, self.document.id):
            self._sort(rows)

    def write_new(self) -> None:
        """Write the chunks that have no rows."""
        new = [self._row(piece) for piece in self.pieces.values() if piece.id not in self.seen]
        for some in batched(new, BATCH, strict=False):
            self.rows.store.put_chunks(self.scope, self.document.id, some)
            self._index(some)

    def confirm(self) -> None:
        """Wait until searches find what was written.

        Raises:
            FencepostError: `index_unavailable`; it takes longer than a job should wait.
        """
        self._tell()
        self.indexing.confirm()

    def place(self) -> None:
        """Write where each chunk stands."""
        places = {
            piece.id: ChunkVersionPlace(ordinal=ordinal, start=piece.start, end=piece.end)
            for ordinal, piece in enumerate(self.pieces.values())
        }
        self.rows.store.put_places(self.scope, self.document.id, self.document.next_version, places)

    def _sort(self, rows: Sequence[ChunkRow]) -> None:
        fates: dict[ChunkAction, list[ChunkRow]] = {each: [] for each in ChunkAction}
        for row in rows:
            fates[chunk_action(row, self.document, self.pieces)].append(row)
        self.rows.drop(self.scope, self.document.id, [*fates[ChunkAction.LEFT_OVER], *fates[ChunkAction.STRAY]])
        vanishing = [replace(row, until=self.document.next_version) for row in fates[ChunkAction.VANISHES]]
        returned = [replace(row, until=None) for row in fates[ChunkAction.RETURNED]]
        self.rows.put(self.scope, self.document.id, [*vanishing, *returned])
        self.indexing.note([*vanishing, *fates[ChunkAction.VANISHING]])
        self._keep([*fates[ChunkAction.KEPT], *returned])

    def _keep(self, rows: Sequence[ChunkRow]) -> None:
        indexing = self.indexing
        self.seen.update(row.id for row in rows)
        current = [row for row in rows if row.stored_id and row.entry == indexing.entry]
        indexing.note(current)
        fresh = [row for row in current if row.since > self.document.version or row.stale_id]
        lost = {row.id for row in fresh if self.shown is not None and row.stored_id not in self.shown}
        indexing.unconfirmed.update(row.stored_id for row in fresh if row.id not in lost)
        right = {row.id for row in current} - lost
        for some in batched((row for row in rows if row.id not in right), BATCH, strict=False):
            self._index([indexing.unhurried(row) for row in some])

    def _index(self, rows: Sequence[ChunkRow]) -> None:
        self.indexing.write(rows)
        self.seen.update(row.id for row in rows)
        self._tell()

    def _tell(self) -> None:
        self.told(len(self.seen), len(self.pieces))

    def _row(self, piece: Chunk) -> ChunkRow:
        return ChunkRow(
            id=piece.id,
            document=self.document.id,
            text=piece.text,
            breadcrumb=piece.breadcrumb,
            lead=piece.lead,
            since=self.document.next_version,
            url=self.address(piece),
        )


def _addresses(document: Document, text: str) -> Callable[[Chunk], str]:
    """Return what tells the address of a piece's page, in a text that is many pages."""
    if document.origin is not DocumentOrigin.LLMS_FULL:
        return lambda _piece: ""
    sections = split_document(text, document.source.rpartition("/")[0]).sections
    starts = list(accumulate((len(section.text) for section in sections), initial=0))
    return lambda piece: sections[min(bisect_right(starts, piece.start), len(sections)) - 1].url if sections else ""
