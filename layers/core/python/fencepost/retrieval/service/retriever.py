"""The passages that may answer a question: found by words and by meaning, hydrated, and chosen, within a deadline.

One embedding; for each kind of entries one lexical and one vector query at once; one order of both; then the rows. Rows
that are gone, superseded or not the reader's are dropped before the cut, and what comes after them is looked at, so
that no number of dead hits starves the result. What is late is left out. Nothing here fails a turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.concurrency import start_concurrently
from fencepost.kernel.errors import FencepostError
from fencepost.retrieval.domain.ranking.fusion import LIST_LIMIT, FusionKey, Lists, Profile, Ranked, key_of, rank
from fencepost.retrieval.domain.ranking.selection import Chance, collapsed, diversified, relevant
from fencepost.retrieval.domain.search import (
    FETCH_FACTOR,
    EmbedderUnavailable,
    EntryKind,
    Hit,
    IndexUnavailable,
    Passage,
    Search,
    Vector,
    message_of,
)
from fencepost.retrieval.ports import Embedder, Hydrated, Hydrator, VectorIndex

DEADLINE_SECONDS: Final = 0.4
HYDRATION_SHARE: Final = 0.25
"""Of the deadline: what the queries leave to the rows, without which nothing can be shown."""
FINISHED_SHARE: Final = 0.05
"""Of the deadline: what the last reading leaves, so that what was found without it is still in time."""
PIECES_OF_A_PART: Final[Mapping[EntryKind, int]] = {"document": 3, "message": 1}
"""Most passages of one section, or message: a long section may answer in several places, but not take all the room."""

type EnqueueRemoval = Callable[[Scope, EntryKind, Sequence[Hit]], None]
"""Queues the removal of entries that lead to no row."""

_PROFILES: Final[Mapping[EntryKind, Profile]] = {"document": Profile.DOCUMENTS, "message": Profile.MESSAGES}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalQuery:
    """What is looked for, and by whom.

    Attributes:
        text: the question, with what it leans on.
        grants: the reader's, of which a document asks for one.
        wanted: how many passages of each kind.
        conversation: whose messages the prompt has already.
    """

    text: str
    grants: frozenset[str] = frozenset()
    wanted: Mapping[EntryKind, int] = field(default_factory=dict)
    conversation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievedPassages:
    """What was found of one kind.

    Attributes:
        passages: the best first; none where nothing is relevant.
        degraded: a part was late or did not answer.
        any: the index holds something of this kind that the reader may find, relevant or not.
    """

    passages: tuple[Passage, ...] = ()
    degraded: bool = False
    any: bool = False


LATE: Final = RetrievedPassages(degraded=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retriever:
    """Finds passages.

    Attributes:
        hydrators: by the kinds of entries that there are.
        chance: calibrates a ranking's score.
        floor: the chance that the best passage must have.
        deadline: seconds for everything together.
    """

    index: VectorIndex
    embedder: Embedder
    hydrators: Mapping[EntryKind, Hydrator]
    enqueue_removal: EnqueueRemoval
    chance: Chance
    floor: float
    deadline: float = DEADLINE_SECONDS

    def begin(self, scope: Scope, query: RetrievalQuery) -> Future[Mapping[EntryKind, RetrievedPassages]]:
        """Begin to search. The result is there after the deadline at the latest, and never raises for what is down."""
        until = time.monotonic() + self.deadline
        return start_concurrently(lambda: self._search(scope, query, until))

    def search(self, scope: Scope, query: RetrievalQuery) -> Mapping[EntryKind, RetrievedPassages]:
        """Return what is found of each kind that is wanted."""
        return self._search(scope, query, time.monotonic() + self.deadline)

    def _search(self, scope: Scope, query: RetrievalQuery, until: float) -> Mapping[EntryKind, RetrievedPassages]:
        embedded = start_concurrently(lambda: self.embedder.query(query.text))
        kinds = [kind for kind in self.hydrators if query.wanted.get(kind)]
        running = {kind: start_concurrently(_Kind(self, scope, query, kind, until, embedded).found) for kind in kinds}
        return {kind: in_time(future, until) or LATE for kind, future in running.items()}


@dataclass(frozen=True, slots=True)
class _Kind:
    """The search of one kind of entries."""

    recall: Retriever
    scope: Scope
    query: RetrievalQuery
    kind: EntryKind
    until: float
    embedded: Future[Vector]

    @property
    def wanted(self) -> int:
        """Passages at the end."""
        return self.query.wanted[self.kind]

    def found(self) -> RetrievedPassages:
        """Return what the lists lead to."""
        words, meaning = self._lists()
        if not words and not meaning:
            return RetrievedPassages(degraded=words is None or meaning is None)
        ranked = rank(Lists(words or (), meaning or ()), _PROFILES[self.kind], self.query.text)
        passages = self._alive(ranked)
        finished = None if passages is None else self._finished(passages)
        late = words is None or meaning is None or finished is None
        # Without the last reading there are passages without words: those that stand in no row.
        whole = tuple(each for each in passages or () if each.text) if finished is None else finished
        return RetrievedPassages(passages=whole, degraded=late, any=True)

    def _lists(self) -> tuple[Sequence[Hit] | None, Sequence[Hit] | None]:
        """Return what each query found; None for one that was late or failed."""
        recall, scope, model = self.recall, self.scope, self.recall.embedder.model.name
        search = Search(
            kind=self.kind,
            grants=self.query.grants,
            limit=max(LIST_LIMIT, FETCH_FACTOR * self.wanted),
            exclude_parent=self.query.conversation if self.kind == "message" else "",
        )
        lexical = start_concurrently(lambda: recall.index.lexical(scope, search, self.query.text))
        nearest = start_concurrently(lambda: recall.index.nearest(scope, search, self.embedded.result(), model))
        until = self.until - HYDRATION_SHARE * recall.deadline
        return in_time(lexical, until), in_time(nearest, until)

    def _alive(self, ranked: Sequence[Ranked]) -> tuple[Passage, ...] | None:
        """Choose among the hits whose rows are alive; None where the rows do not answer.

        The first are hydrated, and what is dead makes room for what comes after it, until there is enough to choose
        from. Only then is it cut.
        """
        left, looked, passages, dead = list(ranked), set[FusionKey](), dict[FusionKey, Passage](), list[Hit]()
        while True:
            pool = self._pool(left)
            alive = [each for each in pool if key_of(each.hit) in passages]
            unknown = [each.hit for each in pool if key_of(each.hit) not in looked]
            if len(alive) >= self.wanted or not unknown:
                break
            hydrated = self._hydrated(unknown)
            if hydrated is None:
                return None
            looked |= set(map(key_of, unknown))
            passages |= hydrated.passages
            dead += hydrated.dead
            left = [each for each in left if key_of(each.hit) in passages or key_of(each.hit) not in looked]
        self._bury(dead)
        answering = relevant(alive, self.query.text, self.recall.floor, self.recall.chance)
        return tuple(self._scored(each, passages) for each in diversified(answering, self.wanted))

    def _pool(self, ranked: Sequence[Ranked]) -> list[Ranked]:
        """Return the first, of each part the best, three times as many as are wanted."""
        most = PIECES_OF_A_PART[self.kind]
        return list(collapsed(ranked, self._part, most)[: FETCH_FACTOR * self.wanted])

    def _part(self, ranked: Ranked) -> FusionKey:
        """Return what a hit is a part of: its message, or its section, which is what stands under the same headings."""
        hit = ranked.hit
        if self.kind == "message":
            return hit.parent, message_of(hit.chunk)
        return (hit.parent, hit.context) if hit.context else key_of(hit)

    def _scored(self, ranked: Ranked, passages: Mapping[FusionKey, Passage]) -> Passage:
        return replace(passages[key_of(ranked.hit)], score=self._chance(ranked))

    def _chance(self, ranked: Ranked) -> float:
        return self.recall.chance(ranked, self.query.text)

    def _hydrated(self, hits: Sequence[Hit]) -> Hydrated | None:
        if time.monotonic() >= self.until:
            return None
        with suppress(FencepostError):
            return self.recall.hydrators[self.kind].hydrate(self.scope, self.query.grants, hits)
        return None

    def _finished(self, passages: Sequence[Passage]) -> tuple[Passage, ...] | None:
        until = self.until - FINISHED_SHARE * self.recall.deadline
        if not passages or time.monotonic() >= until:
            return None if passages else ()
        return in_time(start_concurrently(lambda: self.recall.hydrators[self.kind].finish(self.scope, passages)), until)

    def _bury(self, dead: Sequence[Hit]) -> None:
        if dead:
            # Nobody waits for the queue: what is not queued will be found dead again.
            start_concurrently(lambda: self.recall.enqueue_removal(self.scope, self.kind, dead))


def in_time[T](future: Future[T], until: float) -> T | None:
    """Return a result that is there at a moment of the monotonic clock; None where it is late, or something is down."""
    with suppress(TimeoutError, IndexUnavailable, EmbedderUnavailable, FencepostError):
        return future.result(max(0.0, until - time.monotonic()))
    return None
