"""Ingest of documents, of the same ones again and of an edited one, and the time that turns then wait for passages.

Runs the jobs' code with their adapters on the local cloud's stores; only the queue is a list. The baseline is the local
embedder alone. Turns are those of the chat function, in this process.

Usage: python -m benchmarks.ingest
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from benchmarks.report import Row, data_folder, print_table
from benchmarks.turning import SITE, MeasuredTurn, Turning, environment, turning
from fencepost.bootstrap.stores import tenant_stores
from fencepost.bootstrap.wiring.documents import document_service
from fencepost.bootstrap.wiring.ingestion import ingestion
from fencepost.bootstrap.wiring.retrieval import index_of
from fencepost.documents.service.documents import DocumentChanges, DocumentService, NewDocument
from fencepost.documents.service.ingest import IngestService
from fencepost.identity.domain.scope import Scope
from fencepost.observability.powertools.log import LambdaEvents
from fencepost.retrieval.domain.search import EmbeddingModel, Vector
from fencepost.retrieval.ports import Embedder
from fencepost.settings import load_settings
from local.directory import operator
from local.ingest import Waiting

CHARACTERS = 40_000
"""Characters read of each file: several hundred chunks in total, ingested in about a minute."""
TURNS = 20
ALONE = "How do slices and segments relate to each other in the layers of a project?"
LEANING = "And what about them on the client?"
EDIT = "\n\nA sentence that nobody had written before stands here now.\n\n"


class Counted:
    """An embedder that records the number of texts and the time that it takes."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.calls = self.texts = 0
        self.seconds = 0.0

    @property
    def model(self) -> EmbeddingModel:
        """See `fencepost.retrieval.ports.Embedder`."""
        return self._embedder.model

    def passages(self, texts: Sequence[str]) -> tuple[Vector, ...]:
        """See `fencepost.retrieval.ports.Embedder`."""
        start = time.perf_counter()
        vectors = self._embedder.passages(texts)
        self.calls, self.texts, self.seconds = (
            self.calls + 1,
            self.texts + len(texts),
            self.seconds + time.perf_counter() - start,
        )
        return vectors

    def query(self, text: str) -> Vector:
        """See `fencepost.retrieval.ports.Embedder`."""
        return self._embedder.query(text)

    def count(self, text: str) -> int:
        """See `fencepost.retrieval.ports.Embedder`."""
        return self._embedder.count(text)


@dataclass(frozen=True, slots=True)
class Corpus:
    """An organisation's documents, and the services that ingest them."""

    service: DocumentService
    ingest: IngestService
    waiting: Waiting
    embedder: Counted
    scope: Scope

    def bring(self, documents: dict[str, bytes]) -> float:
        """Ingest documents, new or existing, and return the seconds."""
        start = time.perf_counter()
        known = {document.id for document in self.service.page(self.scope, None, 100).items}
        for name, content in documents.items():
            if name in known:
                self.service.change(self.scope, name, DocumentChanges(), content)
            else:
                self.service.add(self.scope, NewDocument(title=name, site=SITE), content, name)
            while self.waiting.jobs:
                self.ingest.run(self.scope, self.waiting.jobs.popleft())
        return time.perf_counter() - start

    def chunks(self) -> int:
        """Return the number of chunks."""
        return sum(document.chunks for document in self.service.page(self.scope, None, 100).items)


def main() -> None:
    """Print the table."""
    documents = texts(data_folder("docs"))
    with turning() as local:
        corpus = opened(local)
        print_table([*ingest_rows(corpus, documents), *turn_rows(local, corpus.chunks())])


def texts(folder: Path) -> dict[str, bytes]:
    """Return the beginning of each file, by its name."""
    files = sorted(folder.glob("*.llms-full.txt"))
    return {file.name.partition(".")[0]: file.read_text(encoding="utf-8")[:CHARACTERS].encode() for file in files}


def opened(local: Turning) -> Corpus:
    """Build the ingest services from the deployed environment of the jobs function."""
    settings = load_settings(environment(local.cloud, "JobsFunction"))
    index, waiting, reached = index_of(settings), Waiting(), tenant_stores(settings, LambdaEvents())
    if index is None:
        raise SystemExit("the local cloud has no index")
    ingest = ingestion(settings, reached, index, waiting, slice_=timedelta(hours=1)).ingest
    embedder = Counted(ingest.versions.embedder.embedder)
    versions = replace(ingest.versions, embedder=replace(ingest.versions.embedder, embedder=embedder))
    scope = operator(SITE)
    return Corpus(document_service(reached, waiting), replace(ingest, versions=versions), waiting, embedder, scope)


def ingest_rows(corpus: Corpus, documents: dict[str, bytes]) -> Iterator[Row]:
    """Yield the cost of the first ingest, of the second, and of an edit in one document."""
    corpus.embedder.count("The model is loaded.")
    first, embedder = corpus.bring(documents), corpus.embedder
    chunks, made = corpus.chunks(), embedder.texts
    yield Row(
        f"{chunks:,} chunks: ingest, against the embedder alone",
        f"{chunks / first:.1f} /s",
        f"{made / embedder.seconds:.1f} /s",
        f"{embedder.seconds / first:.2f}×",
    )
    again = corpus.bring(documents)
    if embedder.texts != made:
        raise SystemExit(f"an unchanged corpus was embedded: {embedder.texts - made} of its {chunks} chunks")
    yield Row(
        "the same, unchanged: 0 embedded",
        f"{again * 1_000:,.0f} ms",
        f"the first time: {first:.1f} s",
        share(again, first),
    )
    name, content = next(iter(documents.items()))
    edited = corpus.bring({name: with_edit(content)})
    yield Row(
        f"an edit in one of {len(documents)} documents: {embedder.texts - made} embedded",
        f"{edited * 1_000:,.0f} ms",
        f"the first time: {first:.1f} s",
        share(edited, first),
    )


def with_edit(content: bytes) -> bytes:
    """Return a document with an additional paragraph near its middle."""
    text = content.decode()
    middle = text.index("\n\n", len(text) // 2)
    return (text[:middle] + EDIT + text[middle:]).encode()


def turn_rows(local: Turning, chunks: int) -> Iterator[Row]:
    """Yield the share of a warm turn in which it waits for passages."""
    conversation = local.conversation(100)
    for kind, question in (("stands by itself", ALONE), ("leans on the last ones", LEANING)):
        local.turn(conversation, question)
        yield turn_row(f"a question that {kind}", chunks, [local.turn(conversation, question) for _ in range(TURNS)])


def turn_row(title: str, chunks: int, turns: Sequence[MeasuredTurn]) -> Row:
    """Return the medians of several turns."""
    waited = statistics.median(turn.retrieval for turn in turns)
    whole = statistics.median(turn.beside_the_provider for turn in turns)
    late = sum(turn.degraded for turn in turns)
    return Row(
        f"{title}, {chunks:,} chunks: waiting for passages ({late} of {len(turns)} late)",
        f"{waited:.1f} ms",
        f"warm turn without the provider: {whole:.1f} ms",
        share(waited, whole),
    )


def share(part: float, whole: float) -> str:
    """Return a part of a whole, in percent."""
    return f"{part / whole:.1%}"


if __name__ == "__main__":
    main()
