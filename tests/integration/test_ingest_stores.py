"""Documents through the real stores, the real chunker and the embedded index: in, found, edited and out again."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from fencepost.blobs.s3 import S3BlobStore
from fencepost.documents import rows as corpus_keys
from fencepost.documents.domain.chunking.bounds import Bounds
from fencepost.documents.domain.chunking.chunks import chunk
from fencepost.documents.domain.documents import DocumentKind, DocumentState
from fencepost.documents.dynamodb.documents import DynamoDbDocuments
from fencepost.documents.readers.page_text import PageText
from fencepost.documents.service.document_jobs import document_job
from fencepost.documents.service.documents import DocumentChanges, DocumentService, NewDocument
from fencepost.documents.service.ingest import IngestService, RemovalService
from fencepost.documents.service.sitemaps import Sitemaps
from fencepost.documents.service.sources import Sources
from fencepost.documents.service.versions import Versions
from fencepost.identity.domain.scope import Acl, Action, Audience, Member, Membership, OrgRole, authorize, own
from fencepost.kernel.clock import utc_now
from fencepost.queue.domain import Purpose
from fencepost.retrieval.domain.search import Hit, Search
from fencepost.retrieval.dynamodb import DynamoDbEmbeddingCache
from fencepost.retrieval.indexes.embedded.index import EmbeddedIndex
from fencepost.retrieval.service.embedding import CachedEmbedder
from local.emulator import Emulator
from tests.fakes.corpus import FakeJobQueue, operator
from tests.fakes.index import FakeEmbedder
from tests.integration.corpus_tables import CorpusTable, open_corpus_table
from tests.worlds.corpus import FakeWeb

SECTIONS = {name: f"How to {name.lower()} a fence. " + f"Mind the {name.lower()} rules. " * 30 for name in "ABCDEFGH"}
SEARCH = Search(kind="document", grants=frozenset({"site:docs"}))


def written(sections: dict[str, str]) -> bytes:
    return "\n\n".join(f"## {name}\n\n{text}" for name, text in sections.items()).encode()


class Corpus:
    """The services over the real adapters; only the embedder, the queue and the web are fakes."""

    def __init__(self, table: CorpusTable, bucket: str, emulator: Emulator, folder: Path) -> None:
        s3 = emulator.client("s3")
        self.table = table
        self.store = DynamoDbDocuments(table.name, lambda: table.client)
        self.blobs = S3BlobStore(bucket, lambda: s3, corpus_keys.object_prefix)
        self.index = EmbeddedIndex(folder / "index.sqlite")
        self.embedder, self.queue = FakeEmbedder(), FakeJobQueue()
        self.scope = operator()
        cached = CachedEmbedder(self.embedder, DynamoDbEmbeddingCache(table.name, lambda: table.client))
        versions = Versions(
            store=self.store,
            index=self.index,
            embedder=cached,
            blobs=self.blobs,
            chunker=lambda text, language: chunk(text, cached.count, Bounds(10, 60, 90, 300, 0), language),
            clock=utc_now,
        )
        sitemaps = Sitemaps(store=self.store, blobs=self.blobs, queue=self.queue, clock=utc_now)
        web = FakeWeb()
        self.ingest = IngestService(
            store=self.store,
            blobs=self.blobs,
            sources=Sources(pages=web, files=web, sitemaps=web, reader=PageText(), blobs=self.blobs),
            versions=versions,
            sitemaps=sitemaps,
            queue=self.queue,
            clock=utc_now,
            slice=timedelta(minutes=5),
        )
        self.removal = RemovalService(
            store=self.store, blobs=self.blobs, versions=versions, sitemaps=sitemaps, clock=utc_now
        )
        self.service = DocumentService(store=self.store, blobs=self.blobs, queue=self.queue, clock=utc_now)

    def work(self) -> None:
        """Run all jobs that are queued."""
        while self.queue.jobs:
            job = self.queue.jobs.pop(0)
            (self.ingest if job.purpose is Purpose.INGEST else self.removal).run(self.scope, job)

    def found(self, words: str) -> tuple[Hit, ...]:
        """Return what an anonymous visitor of the site finds."""
        return self.index.lexical(self.scope, SEARCH, words)


@pytest.fixture
def corpus(emulator: Emulator, tmp_path: Path) -> Corpus:
    bucket = f"corpus-{uuid4()}"
    emulator.client("s3").create_bucket(Bucket=bucket)
    return Corpus(open_corpus_table(emulator.endpoint_url), bucket, emulator, tmp_path)


def test_a_document_goes_in_is_edited_and_goes_out(corpus: Corpus) -> None:
    admin = Member("acme", "boss", Membership("acme", "boss", OrgRole.ADMIN, active=True, version=1))
    scope = authorize(admin, Action.ADMINISTER, own(admin))
    document = corpus.service.add(scope, NewDocument(title="Fences", site="docs"), written(SECTIONS))
    corpus.work()

    known = corpus.service.get(scope, document.id)
    assert (known.state, known.version) == (DocumentState.READY, 1)
    hit = corpus.found("How to c a fence")[0]
    documents, rows = corpus.store.hydrate(scope, [(hit.parent, hit.chunk)])
    row = rows[hit.parent, hit.chunk]
    place = corpus.store.places(scope, [(hit.parent, documents[hit.parent].version, hit.chunk)])[hit.parent, hit.chunk]
    text = corpus.blobs.get(scope, f"corpus/{document.id}/v1/text")
    assert text
    assert text.decode()[place.start : place.end] == row.text
    assert row.stored_id == hit.stored_id

    corpus.embedder.embedded.clear()
    corpus.service.change(
        scope, document.id, DocumentChanges(), written({**SECTIONS, "C": "How to mend a gate. " + SECTIONS["C"]})
    )
    corpus.work()
    assert corpus.service.get(scope, document.id).version == 2
    assert 0 < len(corpus.embedder.embedded) < known.chunks / 4
    assert "mend a gate" in corpus.found("mend gate")[0].text

    corpus.service.change(scope, document.id, DocumentChanges(acl=Acl(audience=Audience.ORGANISATION)))
    corpus.work()
    assert corpus.found("gate") == ()

    corpus.service.remove(scope, document.id)
    corpus.work()
    assert list(corpus.blobs.names(scope, "")) == []
    assert {item["pk"]["S"] for item in corpus.table.rows()} == {"org#acme#embedding#fake%2F16"}
    assert corpus.index.listed(scope, None, 10).items == ()


def test_the_same_text_again_costs_nothing(corpus: Corpus) -> None:
    document = corpus.service.add(corpus.scope, NewDocument(title="Fences", site="docs"), written(SECTIONS))
    corpus.work()
    corpus.embedder.embedded.clear()
    entries = corpus.index.listed(corpus.scope, None, 100)

    corpus.service.refresh(corpus.scope, document.id)
    corpus.ingest.run(corpus.scope, document_job(corpus.scope, document.id, Purpose.INGEST, utc_now))

    assert corpus.service.get(corpus.scope, document.id).version == 1
    assert corpus.embedder.embedded == []
    assert corpus.index.listed(corpus.scope, None, 100) == entries


def test_html_becomes_text_with_its_headings(corpus: Corpus) -> None:
    html = b"<html lang=en><title>Gates</title><nav>Menu</nav><main><h1>Gates</h1><p>Close it.</p></main></html>"
    document = corpus.service.add(corpus.scope, NewDocument(site="docs", kind=DocumentKind.HTML), html)
    corpus.work()

    known = corpus.service.get(corpus.scope, document.id)
    assert (known.state, known.title, known.language) == (DocumentState.READY, "Gates", "en")
    assert "Close it." in corpus.found("close")[0].text


def test_an_upload_is_read_though_it_bears_no_hash_of_ours(corpus: Corpus, emulator: Emulator) -> None:
    new = NewDocument(title="Fences", site="docs")
    document, form = corpus.service.offer(corpus.scope, new, "text/markdown", 10_000)
    assert form.fields["key"] == f"acme/corpus/{document.id}/upload"
    (bucket,) = [row["Name"] for row in emulator.client("s3").list_buckets()["Buckets"] if row["Name"] in form.url]
    emulator.client("s3").put_object(Bucket=bucket, Key=form.fields["key"], Body=written(SECTIONS))

    corpus.service.refresh(corpus.scope, document.id)
    corpus.work()

    assert corpus.service.get(corpus.scope, document.id).state is DocumentState.READY
    assert corpus.found("How to c a fence")
