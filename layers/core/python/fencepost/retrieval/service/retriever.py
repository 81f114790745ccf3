"""The retriever: searches the index, hydrates the hits from their rows, and chooses passages, within a deadline.

A search makes one embedding, then for each kind of entries a lexical and a vector query in parallel, fuses both
rankings, and reads the rows of the best hits. Hits whose rows are deleted, superseded or not readable are dropped, and
the next hits are hydrated in their place, so dead hits never shorten the result. Late answers are left out, and no
failure of the retriever fails a turn.
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
from fencepost.retrieval.domain.ranking.fusion import LIST_LIMIT, FusionKey, Lists, Profile, Ranked, fuse, key_of
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
"""Share of the deadline that is kept for hydration: without rows there are no passages."""
FINISHED_SHARE: Final = 0.05
"""Share of the deadline that is kept after `Hydrator.finish`, so that unfinished passages can still be returned."""
CHUNKS_PER_GROUP: Final[Mapping[EntryKind, int]] = {"document": 3, "message": 1}
"""Most passages of one section or message: a long section may answer in several places, but leaves room for others."""

type EnqueueRemoval = Callable[[Scope, EntryKind, Sequence[Hit]], None]
"""Queues the removal of index entries whose rows are deleted."""

_PROFILES: Final[Mapping[EntryKind, Profile]] = {"document": Profile.DOCUMENTS, "message": Profile.MESSAGES}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalQuery:
    """The text to search for, and the reader's permissions.

    Attributes:
        text: the question; for a follow-up, with the earlier question that it refers to.
        grants: the reader's grants; a document requires one of them.
        wanted: how many passages of each kind to return.
        conversation: a conversation whose messages are excluded, because the prompt holds them already.
    """

    text: str
    grants: frozenset[str] = frozenset()
    wanted: Mapping[EntryKind, int] = field(default_factory=dict)
    conversation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievedPassages:
    """The passages of one kind of entries.

    Attributes:
        passages: the best first; empty where nothing is relevant.
        degraded: a query or a store was late or did not answer.
        any: the index holds entries of this kind that the reader may find, relevant or not.
    """

    passages: tuple[Passage, ...] = ()
    degraded: bool = False
    any: bool = False


LATE: Final = RetrievedPassages(degraded=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retriever:
    """Finds the passages that may answer a question.

    Attributes:
        hydrators: read the rows behind the hits, one for each kind of entries.
        enqueue_removal: called with hits whose rows are deleted.
        chance: turns a rank into the probability that the passage answers.
        floor: probability that the best passage must reach; below it, no passages are returned.
        deadline: seconds for a whole search.
    """

    index: VectorIndex
    embedder: Embedder
    hydrators: Mapping[EntryKind, Hydrator]
    enqueue_removal: EnqueueRemoval
    chance: Chance
    floor: float
    deadline: float = DEADLINE_SECONDS

    def begin(self, scope: Scope, query: RetrievalQuery) -> Future[Mapping[EntryKind, RetrievedPassages]]:
        """Start a search. The future completes by the deadline, and does not raise when the index or a store fails."""
        until = time.monotonic() + self.deadline
        return start_concurrently(lambda: self._search(scope, query, until))

    def search(self, scope: Scope, query: RetrievalQuery) -> Mapping[EntryKind, RetrievedPassages]:
        """Return the passages of each kind that the query wants."""
        return self._search(scope, query, time.monotonic() + self.deadline)

    def _search(self, scope: Scope, query: RetrievalQuery, until: float) -> Mapping[EntryKind, RetrievedPassages]:
        embedded = start_concurrently(lambda: self.embedder.query(query.text))
        kinds = [kind for kind in self.hydrators if query.wanted.get(kind)]
        running = {
            kind: start_concurrently(_KindSearch(self, scope, query, kind, until, embedded).run) for kind in kinds
        }
        return {kind: in_time(future, until) or LATE for kind, future in running.items()}


@dataclass(frozen=True, slots=True)
class _KindSearch:
    """The search of one kind of entries."""

    retriever: Retriever
    scope: Scope
    query: RetrievalQuery
    kind: EntryKind
    until: float
    embedded: Future[Vector]

    @property
    def wanted(self) -> int:
        """How many passages to return."""
        return self.query.wanted[self.kind]

    def run(self) -> RetrievedPassages:
        """Return the passages of this kind."""
        lexical, nearest = self._lists()
        if not lexical and not nearest:
            return RetrievedPassages(degraded=lexical is None or nearest is None)
        ranked = fuse(Lists(lexical or (), nearest or ()), _PROFILES[self.kind], self.query.text)
        passages = self._choose(ranked)
        finished = None if passages is None else self._finish(passages)
        degraded = lexical is None or nearest is None or finished is None
        # Passages whose text is not in their row get it from `finish` only: without it they are dropped.
        whole = tuple(each for each in passages or () if each.text) if finished is None else finished
        return RetrievedPassages(passages=whole, degraded=degraded, any=True)

    def _lists(self) -> tuple[Sequence[Hit] | None, Sequence[Hit] | None]:
        """Return the hits of the lexical and of the vector query; None for one that was late or failed."""
        retriever, scope, model = self.retriever, self.scope, self.retriever.embedder.model.name
        search = Search(
            kind=self.kind,
            grants=self.query.grants,
            limit=max(LIST_LIMIT, FETCH_FACTOR * self.wanted),
            exclude_parent=self.query.conversation if self.kind == "message" else "",
        )
        lexical = start_concurrently(lambda: retriever.index.lexical(scope, search, self.query.text))
        nearest = start_concurrently(lambda: retriever.index.nearest(scope, search, self.embedded.result(), model))
        until = self.until - HYDRATION_SHARE * retriever.deadline
        return in_time(lexical, until), in_time(nearest, until)

    def _choose(self, ranked: Sequence[Ranked]) -> tuple[Passage, ...] | None:
        """Return the chosen passages of hits that have a readable row; None where the rows do not answer.

        The first hits are hydrated; those without a row are replaced by the next, until there are enough to choose
        from. Relevance and diversity are applied only then.
        """
        retriever, group_size = self.retriever, CHUNKS_PER_GROUP[self.kind]
        left, hydrated, passages, dead = list(ranked), set[FusionKey](), dict[FusionKey, Passage](), list[Hit]()
        while True:
            pool = collapsed(left, self._group, group_size)[: FETCH_FACTOR * self.wanted]
            alive = [each for each in pool if key_of(each.hit) in passages]
            unknown = [each.hit for each in pool if key_of(each.hit) not in hydrated]
            if len(alive) >= self.wanted or not unknown:
                break
            answer = self._hydrate(unknown)
            if answer is None:
                return None
            hydrated |= set(map(key_of, unknown))
            passages |= answer.passages
            dead += answer.dead
            left = [each for each in left if key_of(each.hit) in passages or key_of(each.hit) not in hydrated]
        if dead:
            # The turn does not wait for the queue: an entry that was not queued is found dead again.
            start_concurrently(lambda: retriever.enqueue_removal(self.scope, self.kind, dead))
        answering = relevant(alive, self.query.text, retriever.floor, retriever.chance)
        return tuple(
            replace(passages[key_of(each.hit)], score=retriever.chance(each, self.query.text))
            for each in diversified(answering, self.wanted)
        )

    def _group(self, ranked: Ranked) -> FusionKey:
        """Return the message or the section of a hit. Chunks with the same headings are in the same section."""
        hit = ranked.hit
        if self.kind == "message":
            return hit.parent, message_of(hit.chunk)
        return (hit.parent, hit.context) if hit.context else key_of(hit)

    def _hydrate(self, hits: Sequence[Hit]) -> Hydrated | None:
        if time.monotonic() >= self.until:
            return None
        with suppress(FencepostError):
            return self.retriever.hydrators[self.kind].hydrate(self.scope, self.query.grants, hits)
        return None

    def _finish(self, passages: Sequence[Passage]) -> tuple[Passage, ...] | None:
        until = self.until - FINISHED_SHARE * self.retriever.deadline
        if not passages or time.monotonic() >= until:
            return None if passages else ()
        hydrator = self.retriever.hydrators[self.kind]
        return in_time(start_concurrently(lambda: hydrator.finish(self.scope, passages)), until)


def in_time[T](future: Future[T], until: float) -> T | None:
    """Return a result that is available by `until`, a time of the monotonic clock; None if it is late or failed."""
    with suppress(TimeoutError, IndexUnavailable, EmbedderUnavailable, FencepostError):
        return future.result(max(0.0, until - time.monotonic()))
    return None
