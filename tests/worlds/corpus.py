"""Documents and their jobs over fakes: stores, an index, an embedder and a web, with one count of all calls."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from fencepost.blobs import domain as objects
from fencepost.documents.domain.documents import Chunk, Document, DocumentKind, DocumentOrigin, DocumentState
from fencepost.documents.ports import Readable
from fencepost.documents.service.document_jobs import document_job
from fencepost.documents.service.ingest import IngestService, RemovalService
from fencepost.documents.service.sitemaps import Sitemaps
from fencepost.documents.service.sources import Sources
from fencepost.documents.service.versions import Versions
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.errors import DocumentsUnreachable, ErrorCode, FencepostError, UnreachableReason
from fencepost.kernel.ports import RawDocument, Validators
from fencepost.queue.domain import Job, Purpose
from fencepost.retrieval.service.embedding import CachedEmbedder
from tests.fakes.answers import FixedClock
from tests.fakes.corpus import FakeCorpus, FakeJobQueue, OrganisationBlobs, PortFaults, operator
from tests.fakes.index import FakeEmbedder, FakeEmbeddingCache, FakeIndex
from tests.worlds.corpus_samples import document


@dataclass
class FakeWeb:
    """Implements `DocumentFetcher`.

    Attributes:
        served: what stands at each address; a reason instead is what reading it fails of.
        asked: addresses, with the validators that were sent.
    """

    served: dict[str, RawDocument | UnreachableReason] = field(default_factory=dict)
    asked: list[tuple[str, Validators]] = field(default_factory=list)

    def serve(self, url: str, text: str, *, media_type: str = "text/markdown", etag: str | None = None) -> None:
        """Let a text stand at an address."""
        self.served[url] = RawDocument(text, Validators(etag, None), media_type)

    def fetch(self, url: str, known: Validators) -> RawDocument | None:
        self.asked.append((url, known))
        found = self.served.get(url, "status")
        if isinstance(found, str):
            raise DocumentsUnreachable(found)
        return None if known.etag and known == found.validators else found


class FakeReader:
    """Implements `DocumentReader`: UTF-8, with a first heading as the title."""

    def read(self, content: bytes, kind: DocumentKind) -> Readable:
        try:
            text = content.decode()
        except UnicodeDecodeError:
            raise FencepostError(ErrorCode.DOCUMENT_UNREADABLE) from None
        first = text.partition("\n")[0]
        return Readable(text, first.removeprefix("# ") if first.startswith("# ") else "")


def paragraphs(text: str, _language: str) -> Sequence[Chunk]:
    """Cut a text at its blank lines; the spans tile it."""
    pieces, start, before = list[Chunk](), 0, Counter[str]()
    for part in text.split("\n\n"):
        end = min(start + len(part) + 2, len(text))
        before[text[start:end]] += 1
        digest = hashlib.sha256(f"{text[start:end]}\0{before[text[start:end]]}".encode()).hexdigest()[:32]
        pieces.append(Chunk(id=digest, start=start, end=end, text=text[start:end]))
        start = end
    return pieces


@dataclass
class CorpusWorld:
    """Everything that documents' jobs touch, in memory."""

    faults: PortFaults = field(default_factory=PortFaults)
    clock: FixedClock = field(default_factory=FixedClock)
    web: FakeWeb = field(default_factory=FakeWeb)
    cache: FakeEmbeddingCache = field(default_factory=FakeEmbeddingCache)
    scope: Scope = field(default_factory=operator)
    slice: timedelta = timedelta(minutes=1)
    progress: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store = FakeCorpus(self.faults)
        self.index = FakeIndex(self.faults)
        self.embedder = FakeEmbedder(self.faults)
        self.blobs = OrganisationBlobs(self.faults)
        self.queue = FakeJobQueue(self.faults)

    @property
    def versions(self) -> Versions:
        return Versions(
            store=self.store,
            index=self.index,
            embedder=CachedEmbedder(self.embedder, self.cache),
            blobs=self.blobs,
            chunker=paragraphs,
            clock=self.clock,
            pause=self.clock.advance,
        )

    @property
    def sitemaps(self) -> Sitemaps:
        return Sitemaps(store=self.store, blobs=self.blobs, queue=self.queue, clock=self.clock)

    @property
    def ingest(self) -> IngestService:
        return IngestService(
            store=self.store,
            blobs=self.blobs,
            sources=Sources(pages=self.web, files=self.web, sitemaps=self.web, reader=FakeReader(), blobs=self.blobs),
            versions=self.versions,
            sitemaps=self.sitemaps,
            queue=self.queue,
            clock=self.clock,
            report_progress=lambda done, of: self.progress.append((done, of)),
            slice=self.slice,
        )

    @property
    def removal(self) -> RemovalService:
        return RemovalService(
            store=self.store, blobs=self.blobs, versions=self.versions, sitemaps=self.sitemaps, clock=self.clock
        )

    # What is there.

    def add(self, text: str = "", **fields: object) -> Document:
        """Store a document that waits to be read, with what an admin sent."""
        row = document(**fields)  # type: ignore[arg-type]  # fields by name
        self.store.documents["acme", row.id] = row
        if row.origin is DocumentOrigin.INLINE:
            self.blobs.inner.put(self.scope, objects.document_given(row.id), text.encode(), "text/plain")
        return row

    def edit(self, text: str, document_id: str = "d1") -> None:
        """Send another text for a document, to be read."""
        self.blobs.inner.put(self.scope, objects.document_given(document_id), text.encode(), "text/plain")
        self.queue_again(document_id)

    def queue_again(self, document_id: str = "d1", **fields: object) -> None:
        """Have a document read again, with some of its fields changed."""
        wanted: dict[str, object] = {"state": DocumentState.QUEUED, "updated_at": self.clock(), **fields}
        known = self.document(document_id)
        self.store.documents["acme", document_id] = replace(known, **wanted)  # type: ignore[arg-type]  # fields by name

    def remove(self, document_id: str = "d1") -> None:
        """Mark a document as removed."""
        self.queue_again(document_id, state=DocumentState.REMOVED)

    def document(self, document_id: str = "d1") -> Document:
        """Return a document's row."""
        return self.store.documents["acme", document_id]

    # What happens.

    def run(self, document_id: str = "d1", purpose: Purpose = Purpose.INGEST) -> None:
        """Run a document's job once."""
        service = self.ingest if purpose is Purpose.INGEST else self.removal
        service.run(self.scope, document_job(self.scope, document_id, purpose, self.clock))

    def work(self) -> list[Job]:
        """Run all jobs that are queued, and return them."""
        done: list[Job] = []
        while self.queue.jobs:
            job = self.queue.jobs.pop(0)
            self.run(job.document or "", job.purpose)
            done.append(job)
        return done

    # What is seen.

    def read(self, document_id: str = "d1", org: str = "acme") -> list[str]:
        """Return the text of the version that a reader finds, chunk by chunk, past all ports and their faults."""
        row = self.store.documents[org, document_id]
        if not row.version:
            return []
        stands = self.store.stands[org, document_id, row.version]
        rows = {one.id: one for one in self.store.rows_of(org, document_id, row.version)}
        assert set(rows) == set(stands)
        return [rows[one].text for one in sorted(stands, key=lambda one: stands[one].ordinal)]

    def found(self, document_id: str = "d1") -> set[str]:
        """Return the chunks of the version that a reader finds and that have an entry in the index."""
        version = self.document(document_id).version
        entries = self.index.of(document_id)
        rows = self.store.rows_of("acme", document_id, version)
        return {row.id for row in rows if {row.stored_id, row.stale_id} & set(entries)}

    def require_agreement(self, document_id: str = "d1") -> None:
        """Fail unless index, rows, places and objects hold exactly the version that is read."""
        row = self.document(document_id)
        rows = self.store.rows_of("acme", document_id)
        assert all(one.is_part_of(row.version) and one.until is None and not one.stale_id for one in rows)
        assert self.index.of(document_id) == {one.stored_id: one.id for one in rows}
        assert all(one.entry == row.entry and one.model == row.model for one in rows)
        assert [version for _, name, version in self.store.stands if name == document_id] == [row.version]
        prefix = objects.document_version(document_id, row.version)
        versions = [name for name in self.blobs.all() if name.startswith(f"corpus/{document_id}/v")]
        assert versions == [f"{prefix}raw", f"{prefix}text"]
