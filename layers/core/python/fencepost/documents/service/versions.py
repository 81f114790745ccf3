"""Versions of documents: each is built beside the one that searches use, then replaces it in one write.

Readers use the version that a document's row names, and the chunks that are part of it. A build does not change these
until it switches the row, in a single write. Every step can be repeated, so an interrupted build is resumed:

1. Mark the rows of chunks that vanish with the new version. They remain part of the current one.
2. Write the rows of new chunks, embed them, write their entries, and note the entries' ids in the rows.
3. Wait until the index confirms that searches find the entries.
4. Write the chunk places of the new version, and switch the document's row to it.
5. Remove the entries, rows, places and objects that are part of no version any more.
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
from fencepost.documents.service.document_jobs import store_change
from fencepost.documents.service.indexing import DocumentRows, Indexing
from fencepost.documents.service.version_build import ReportProgress, VersionBuild
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.ports import Clock
from fencepost.retrieval.ports import VectorIndex
from fencepost.retrieval.service.embedding import CachedEmbedder

type Chunker = Callable[[str, str], Sequence[Chunk]]
"""Splits a text, given its language (BCP 47), into chunks within the embedder's bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """Builds, switches and cleans up versions.

    Attributes:
        chunker: splits a text into chunks.
        pause: sleeps for a number of seconds.
    """

    store: DocumentStore
    index: VectorIndex
    embedder: CachedEmbedder
    blobs: BlobStore
    chunker: Chunker
    clock: Clock
    pause: Callable[[float], None] = time.sleep

    @property
    def rows(self) -> DocumentRows:
        """The chunk rows and index entries of documents."""
        return DocumentRows(self.store, self.index)

    def indexing(self, scope: Scope, document: Document) -> Indexing:
        """Return the writer of a document's index entries."""
        return Indexing(rows=self.rows, embedder=self.embedder, scope=scope, document=document, pause=self.pause)

    def build(
        self, scope: Scope, document: Document, text: str, report_progress: ReportProgress, *, resumed: bool
    ) -> Document:
        """Build the document's next version from a text, switch to it, and return the document as it then is.

        Args:
            scope: of the document's organisation.
            document: its state is `INDEXING`, and the caller holds its lease.
            text: canonical text of `next_version`.
            report_progress: see `ReportProgress`.
            resumed: whether an earlier attempt at this version was interrupted.

        Raises:
            FencepostError: `document_busy`, the document changed meanwhile; `index_unavailable`, searches do not find
                the new entries yet; `conversations_unavailable`.
            IndexUnavailable: the index does not answer.
            EmbedderUnavailable: the embedder does not answer.
        """
        indexing, listed = self.indexing(scope, document), None
        if resumed and is_settled(document, self.clock()):
            listed = frozenset(entry.stored_id for some in self.rows.entries(scope, document.id) for entry in some)
        build = VersionBuild(
            indexing=indexing,
            text=text,
            chunks=self.chunker(text, document.language),
            report_progress=report_progress,
            listed_entries=listed,
        )
        build.update_existing()
        build.write_new()
        if resumed:
            indexing.remove_orphans()
        build.confirm()
        build.place()
        return self.switch(scope, document, text, len(build.chunks_by_id))

    def switch(self, scope: Scope, document: Document, text: str, chunks: int) -> Document:
        """Make the document's row name its next version, which readers use from then on.

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
        return store_change(self.store, scope, document, after, self.clock)

    def clean(self, scope: Scope, document: Document) -> None:
        """Remove chunks, entries, places and objects that are part of no version of the document any more.

        Raises:
            FencepostError: `conversations_unavailable`.
            IndexUnavailable: the index does not answer.
        """
        for rows in self.rows.pages(scope, document.id):
            self.rows.drop(scope, document.id, [row for row in rows if is_left_over(row, document)])
            stale = [row for row in rows if row.stale_id and not is_left_over(row, document)]
            self.rows.delete_entries(scope, [row.stale_id for row in stale])
            self.rows.put(scope, document.id, [replace(row, stale_id="") for row in stale])
        self.forget(scope, document.id, keep=document.version)

    def forget(self, scope: Scope, document_id: str, *, keep: int = 0) -> None:
        """Remove the chunk places and objects of all versions but one.

        Versions are found by their objects, so a version's objects are removed after its places.

        Args:
            scope: of the document's organisation.
            document_id: the document.
            keep: the version to keep; 0 for none.

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
