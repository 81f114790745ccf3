"""What the town's people are reminded of: the real search and the real job, over an index that may be wrong."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice

from fencepost.memory.service.message_entries import MessageEntries
from fencepost.memory.service.remember import RememberService
from fencepost.retrieval.service.retriever import Retriever
from fencepost.turns.service.turn_retrieval import TurnRetrieval
from tests.fakes.answers import FixedClock
from tests.fakes.conversations import Shelf
from tests.fakes.corpus import FakeJobQueue
from tests.fakes.index import FakeEmbedder, FakeIndex
from tests.fakes.memories import Diary
from tests.fakes.retrieval import PATIENT
from tests.worlds.jobs import JobsWorld
from tests.worlds.remember import paragraphs


@dataclass
class TownMemory:
    """Finds what was said in a shelf's conversations, by any word, and however little it has to do with a question."""

    shelf: Shelf
    clock: FixedClock
    index: FakeIndex = field(default_factory=FakeIndex)
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)
    diary: Diary = field(init=False)

    def __post_init__(self) -> None:
        self.diary = Diary(self.index, self.shelf, self.clock)

    def recall(self) -> TurnRetrieval:
        """Return what finds."""
        recall = Retriever(
            index=self.index,
            embedder=self.embedder,
            hydrators={"message": self.diary.hydrator()},
            enqueue_removal=lambda _scope, _kind, _dead: None,
            chance=lambda _ranked, _question: 1.0,
            floor=0.0,
            deadline=PATIENT,
        )
        return TurnRetrieval(recall)

    def job(self, jobs: JobsWorld) -> RememberService:
        """Return what brings messages into the index."""
        return RememberService(
            conversations=self.diary.conversations,
            entries=MessageEntries(self.diary.parts, self.index),
            embedder=self.embedder,
            jobs=jobs.jobs,
            queue=FakeJobQueue(),
            sites=jobs.sites,
            chunker=paragraphs,
            clock=self.clock,
        )

    def mislay(self, org: str, owner: str) -> None:
        """Let the index take the last entries for somebody else's as well."""
        last = islice(reversed(list(self.index.entries.items())), 3)
        self.index.entries |= {f"{one}-{org}-{owner}": replace(entry, org=org, owner=owner) for one, entry in last}
