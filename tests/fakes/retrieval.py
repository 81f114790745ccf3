"""What questions find, over fakes: documents and messages with their entries, and an index that can be held up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from threading import Event

from fencepost.documents.domain.documents import ChunkRow, Document, DocumentState
from fencepost.documents.domain.entries import entry_of
from fencepost.documents.ports import ChunkVersionPlace
from fencepost.documents.service.indexing import DocumentRows
from fencepost.documents.service.passages import DocumentPassages
from fencepost.identity.domain.scope import Action, Scope, Visitor, authorize, own
from fencepost.jobs.service.orphans import OrphanQueue, OrphanRemoval
from fencepost.retrieval.domain.ranking.fusion import Ranked
from fencepost.retrieval.domain.search import Hit, IndexUnavailable, Search, Vector
from fencepost.retrieval.service.retriever import Retriever
from tests.fakes.answers import FixedClock
from tests.fakes.corpus import FakeCorpus, FakeJobQueue, PortFaults, operator
from tests.fakes.index import FakeEmbedder, FakeIndex, vector_of
from tests.fakes.memories import Diary
from tests.worlds.corpus_samples import chunk

PATIENT = 60.0
"""A deadline that nothing here comes near."""
SHORT = 0.2
"""One that is missed by whatever is held up for good."""


class HeldIndex(FakeIndex):
    """An index whose searches can be held up, or found dead.

    Attributes:
        held: names of the calls that do not answer before `free` is set.
        down: names of the calls that fail.
    """

    def __init__(self, faults: PortFaults | None = None) -> None:
        super().__init__(faults)
        self.held: set[str] = set()
        self.down: set[str] = set()
        self.free = Event()
        self.searches: list[Search] = []

    def lexical(self, scope: Scope, search: Search, text: str) -> tuple[Hit, ...]:
        self._pass("lexical", search)
        return super().lexical(scope, search, text)

    def nearest(self, scope: Scope, search: Search, vector: Vector, model: str, field: str = "text") -> tuple[Hit, ...]:
        self._pass("nearest", search)
        return super().nearest(scope, search, vector, model, field)

    def _pass(self, name: str, search: Search) -> None:
        self.searches.append(search)
        if name in self.down:
            raise IndexUnavailable("refused")
        if name in self.held:
            self.free.wait()


@dataclass
class Library:
    """Documents as they are found: rows, places and entries. What was said stands in the diary, in the same index.

    Attributes:
        faults: of the documents' rows and places.
        searching: of the index and the embedder.
    """

    faults: PortFaults = field(default_factory=PortFaults)
    searching: PortFaults = field(default_factory=PortFaults)
    queue: FakeJobQueue = field(default_factory=FakeJobQueue)
    clock: FixedClock = field(default_factory=FixedClock)
    floor: float = 0.0
    corpus: FakeCorpus = field(init=False)
    index: HeldIndex = field(init=False)
    embedder: FakeEmbedder = field(init=False)
    diary: Diary = field(init=False)

    def __post_init__(self) -> None:
        self.corpus, self.index = FakeCorpus(self.faults), HeldIndex(self.searching)
        self.embedder = FakeEmbedder(self.searching)
        self.diary = Diary(self.index)

    def shelve(self, row: Document, *texts: str, headed: bool = True) -> list[ChunkRow]:
        """Store a document that consists of these texts, each under a heading of its own, and return its rows."""
        known = replace(row, state=DocumentState.READY, version=1, next_version=1)
        scope, model = operator(known.org), self.embedder.model.name
        rows = [
            chunk(
                f"{row.id} {text}",
                row.id,
                text=text,
                breadcrumb=(f"Part {place}",) if headed else (),
                vector=vector_of(text),
                model=model,
            )
            for place, text in enumerate(texts)
        ]
        stored = self.index.upsert(scope, [entry_of(known, each) for each in rows])
        rows = [replace(each, stored_id=one) for each, one in zip(rows, stored, strict=True)]
        self.corpus.documents[known.org, known.id] = known
        self.corpus.rows |= {(known.org, known.id, each.id): each for each in rows}
        self.corpus.stands[known.org, known.id, 1] = _tiled(rows)
        return rows

    def drop(self, rows: Sequence[ChunkRow], org: str = "acme") -> None:
        """Remove rows, and leave their entries where they are."""
        for row in rows:
            del self.corpus.rows[org, row.document, row.id]

    def recall(self, deadline: float = PATIENT) -> Retriever:
        """Return what finds passages in here."""
        return Retriever(
            index=self.index,
            embedder=self.embedder,
            hydrators={"document": DocumentPassages(self.corpus), "message": self.diary.hydrator()},
            enqueue_removal=OrphanQueue(self.queue, self.diary.conversations, self.clock).enqueue_removal,
            chance=shares_words,
            floor=self.floor,
            deadline=deadline,
        )

    def removal(self) -> OrphanRemoval:
        """Return the job that removes what leads to no row."""
        return OrphanRemoval(DocumentRows(self.corpus, self.index), self.diary.conversations, self.clock)


def reader(org: str = "acme", visitor: str = "ann") -> Scope:
    """Return the scope of a visitor's turn."""
    caller = Visitor(org, "docs", visitor)
    return authorize(caller, Action.CHAT, own(caller))


def shares_words(ranked: Ranked, question: str) -> float:
    """Return the share of a question's words that a hit has."""
    words = set(question.casefold().split())
    return len(words.intersection(ranked.hit.text.casefold().split())) / len(words)


def _tiled(rows: Sequence[ChunkRow]) -> dict[str, ChunkVersionPlace]:
    places, start = dict[str, ChunkVersionPlace](), 0
    for ordinal, row in enumerate(rows):
        places[row.id] = ChunkVersionPlace(ordinal=ordinal, start=start, end=start + len(row.text))
        start += len(row.text)
    return places
