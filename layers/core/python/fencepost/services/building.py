"""One attempt at a document's next version. `fencepost.services.versions` says what it must not break."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, batched
from typing import Final

from fencepost.domain.corpus import ChunkRow, Document, Origin, Piece
from fencepost.domain.corpus_entries import entry_of, fingerprint, has_vector, passage
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.identity import Scope
from fencepost.domain.ingestion import Fate, fate
from fencepost.domain.retrieval import Vector
from fencepost.domain.sections import split_document
from fencepost.ports import Place
from fencepost.services.document_rows import PAGE, DocumentRows
from fencepost.services.embedding import CachedEmbedder

type Told = Callable[[int, int], None]
"""Is told how many chunks of how many are done, after each indexed batch. What it raises ends the work there."""

BATCH: Final = 64
"""Chunks that are written, embedded and indexed together."""
LOOKS: Final = 5
"""How often the index is asked whether it shows what was written, a second apart, before the job comes again later."""


@dataclass(slots=True, kw_only=True)
class Building:
    """One attempt at a version.

    Attributes:
        kept: ids of all entries that some row knows.
        unconfirmed: those of them that searches may not find yet.
        seen: pieces whose rows are there.
    """

    rows: DocumentRows
    embedder: CachedEmbedder
    scope: Scope
    document: Document
    text: str
    cut: Sequence[Piece]
    told: Told
    pause: Callable[[float], None] = time.sleep
    pieces: Mapping[str, Piece] = field(init=False)
    entry: str = field(init=False)
    address: Callable[[Piece], str] = field(init=False)
    kept: set[str] = field(default_factory=set)
    unconfirmed: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.pieces = {piece.id: piece for piece in self.cut}
        self.entry = fingerprint(self.document, self.embedder.model.name)
        self.address = _addresses(self.document, self.text)

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

    def remove_orphans(self) -> None:
        """Remove entries of which no row knows: of an attempt that ended before it could write down what they are."""
        self.rows.remove_entries(self.scope, self.document.id, frozenset(self.kept))

    def confirm(self) -> None:
        """Wait until searches find what was written.

        Raises:
            FencepostError: `index_unavailable`; it takes longer than a job should wait.
        """
        self._tell()
        for look in range(LOOKS):
            if look:
                self.pause(1)
            for some in list(batched(self.unconfirmed, PAGE, strict=False)):
                self.unconfirmed -= self.rows.index.visible(self.scope, some)
            if not self.unconfirmed:
                return
        raise FencepostError(ErrorCode.INDEX_UNAVAILABLE)

    def place(self) -> None:
        """Write where each chunk stands."""
        places = {
            piece.id: Place(ordinal=ordinal, start=piece.start, end=piece.end)
            for ordinal, piece in enumerate(self.pieces.values())
        }
        self.rows.store.put_places(self.scope, self.document.id, self.document.next_version, places)

    def _sort(self, rows: Sequence[ChunkRow]) -> None:
        fates: dict[Fate, list[ChunkRow]] = {each: [] for each in Fate}
        for row in rows:
            fates[fate(row, self.document, self.pieces)].append(row)
        self.rows.drop(self.scope, self.document.id, [*fates[Fate.LEFT_OVER], *fates[Fate.STRAY]])
        vanishing = [replace(row, until=self.document.next_version) for row in fates[Fate.VANISHES]]
        returned = [replace(row, until=None) for row in fates[Fate.RETURNED]]
        if marked := [*vanishing, *returned]:
            self.rows.store.put_chunks(self.scope, self.document.id, marked)
        self._note([*vanishing, *fates[Fate.VANISHING]])
        self._keep([*fates[Fate.KEPT], *returned])

    def _keep(self, rows: Sequence[ChunkRow]) -> None:
        self.seen.update(row.id for row in rows)
        current = [row for row in rows if row.stored_id and row.entry == self.entry]
        self._note(current)
        self.unconfirmed.update(row.stored_id for row in current if row.since > self.document.version or row.stale_id)
        for some in batched((row for row in rows if not row.stored_id or row.entry != self.entry), BATCH, strict=False):
            self._index([self._unhurried(row) for row in some])

    def _unhurried(self, row: ChunkRow) -> ChunkRow:
        """Return a row without the entry that was to take the place of another and is itself out of date by now."""
        if not row.stale_id:
            return row
        self.rows.index.delete(self.scope, [row.stored_id])
        return replace(row, stored_id=row.stale_id, stale_id="")

    def _index(self, rows: Sequence[ChunkRow]) -> None:
        """Embed chunks, write their entries, and let their rows know these."""
        document, model = self.document, self.embedder.model.name
        vectors = self._vectors(rows)
        embedded = [replace(row, vector=vectors[row.id], model=model, entry=self.entry) for row in rows]
        ids = self.rows.index.upsert(self.scope, [entry_of(document, row) for row in embedded])
        written = [
            replace(row, stored_id=one, stale_id=row.stored_id if row.stored_id != one else "")
            for row, one in zip(embedded, ids, strict=True)
        ]
        self.rows.store.put_chunks(self.scope, document.id, written)
        self.seen.update(row.id for row in written)
        self.unconfirmed.update(ids)
        self._note(written)
        self._tell()

    def _vectors(self, rows: Sequence[ChunkRow]) -> Mapping[str, Vector]:
        known = {row.id: row.vector for row in rows if has_vector(row, self.entry)}
        wanted = [row for row in rows if row.id not in known]
        texts = [passage(self.document, row) for row in wanted]
        made = self.embedder.passages(self.scope, texts) if texts else ()
        return known | {row.id: vector for row, vector in zip(wanted, made, strict=True)}

    def _note(self, rows: Sequence[ChunkRow]) -> None:
        self.kept.update(one for row in rows for one in (row.stored_id, row.stale_id) if one)

    def _tell(self) -> None:
        self.told(len(self.seen), len(self.pieces))

    def _row(self, piece: Piece) -> ChunkRow:
        return ChunkRow(
            id=piece.id,
            document=self.document.id,
            text=piece.text,
            breadcrumb=piece.breadcrumb,
            lead=piece.lead,
            since=self.document.next_version,
            url=self.address(piece),
        )


def _addresses(document: Document, text: str) -> Callable[[Piece], str]:
    """Return what tells the address of a piece's page, in a text that is many pages."""
    if document.origin is not Origin.LLMS_FULL:
        return lambda _piece: ""
    sections = split_document(text, document.source.rpartition("/")[0]).sections
    starts = list(accumulate((len(section.text) for section in sections), initial=0))
    return lambda piece: sections[min(bisect_right(starts, piece.start), len(sections)) - 1].url if sections else ""
