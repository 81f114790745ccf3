"""New versions of documents: built beside the one that is read, switched to at once, and the old one taken away.

A reader takes the version that a document's row names, and the chunks that are part of it. Until the row changes, what
is written here is part of no version that it names; the row changes in one write. Each step can be repeated, so work
that ended anywhere goes on:

1. Rows of chunks that vanish are marked with the new version, and stay part of the one before.
2. Rows of new chunks are written, then embedded, then their entries; each row then knows its entry.
3. The entries are seen by searches, as the index itself says.
4. The places of the new version are written, and the document's row switches to it.
5. Entries, rows, places and objects of what is part of no version any more are removed.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore
from fencepost.documents.domain.documents import Chunk, Document, is_left_over, is_settled
from fencepost.documents.domain.entries import fingerprint
from fencepost.documents.ports import DocumentStore
from fencepost.documents.service.document_jobs import changed
from fencepost.documents.service.indexing import DocumentRows, Indexing
from fencepost.documents.service.version_build import ReportProgress, VersionBuild
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.ports import Clock
from fencepost.retrieval.ports import VectorIndex
from fencepost.retrieval.service.embedding import CachedEmbedder

type Chunker = Callable[[str, str], Sequence[Chunk]]
"""Cuts a text of a language into pieces: the chunker, with the embedder's bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """Builds versions and takes them away.

    Attributes:
        pause: waits so many seconds.
    """

    store: DocumentStore
    index: VectorIndex
    embedder: CachedEmbedder
    blobs: BlobStore
    cut: Chunker
    clock: Clock
    pause: Callable[[float], None] = time.sleep

    @property
    def rows(self) -> DocumentRows:
        """The rows and entries of documents."""
        return DocumentRows(self.store, self.index)

    def indexing(self, scope: Scope, document: Document) -> Indexing:
        """Return what writes the entries of a document."""
        return Indexing(rows=self.rows, embedder=self.embedder, scope=scope, document=document, pause=self.pause)

    def build(self, scope: Scope, document: Document, text: str, told: ReportProgress, *, resumed: bool) -> Document:
        """Make a text the document's next version, and return the document as it then is.

        Args:
            scope: of the document's organisation.
            document: being indexed, under a lease.
            text: of its `next_version`.
            told: see `ReportProgress`.
            resumed: an earlier attempt at this version did not come to its end.

        Raises:
            FencepostError: `document_busy`, somebody changed the document meanwhile; `index_unavailable`, the index
                does not show yet what was written; `conversations_unavailable`.
            IndexUnavailable, EmbedderUnavailable: as they say.
        """
        indexing = self.indexing(scope, document)
        shown = self._shown(scope, document) if resumed and is_settled(document, self.clock()) else None
        building = VersionBuild(
            indexing=indexing, text=text, cut=self.cut(text, document.language), told=told, shown=shown
        )
        building.sort_rows()
        building.write_new()
        if resumed:
            indexing.remove_orphans()
        building.confirm()
        building.place()
        return self.switch(scope, document, text, len(building.pieces))

    def _shown(self, scope: Scope, document: Document) -> frozenset[str]:
        return frozenset(entry.stored_id for some in self.rows.entries(scope, document.id) for entry in some)

    def switch(self, scope: Scope, document: Document, text: str, chunks: int) -> Document:
        """Let the document's row name its next version: from here on, that one is read.

        Raises:
            FencepostError: `document_busy`, `conversations_unavailable`.
        """
        model = self.embedder.model.name
        after = replace(
            document,
            version=document.next_version,
            content_hash=hash_of(text),
            chunks=chunks,
            model=model,
            entry=fingerprint(document, model),
        )
        return changed(self.store, scope, document, after, self.clock)

    def clean(self, scope: Scope, document: Document) -> None:
        """Remove all that is part of no version of the document any more.

        Raises:
            FencepostError: `conversations_unavailable`.
            IndexUnavailable: as it says.
        """
        for rows in self.rows.pages(scope, document.id):
            self.rows.drop(scope, document.id, [row for row in rows if is_left_over(row, document)])
            stale = [row for row in rows if row.stale_id and not is_left_over(row, document)]
            self.rows.delete_entries(scope, [row.stale_id for row in stale])
            self.rows.put(scope, document.id, [replace(row, stale_id="") for row in stale])
        self.forget(scope, document.id, keep=document.version)

    def forget(self, scope: Scope, document_id: str, *, keep: int = 0) -> None:
        """Remove places and objects of a document's versions. The objects tell which there are, and so go last.

        Raises:
            FencepostError: `conversations_unavailable`.
        """
        names = self.blobs.names(scope, objects.document_versions(document_id))
        for version in {objects.version_of(name) for name in names} - {keep}:
            self.store.drop_places(scope, document_id, version)
            self.blobs.delete(scope, objects.document_version(document_id, version))


def hash_of(text: str) -> str:
    """Return the SHA-256 hex digest of a canonical text."""
    return hashlib.sha256(text.encode()).hexdigest()
