"""Indexing and searching of a data set, as deployed or with a part left out."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from unittest.mock import patch

from benchmarks.retrieval_sets import DataSet, Unit
from benchmarks.retrieval_vectors import RememberedVectors
from fencepost.documents.domain.chunking.chunks import chunk
from fencepost.documents.domain.documents import Chunk, ChunkRow, Document, DocumentKind, DocumentOrigin, DocumentState
from fencepost.documents.domain.entries import entry_of, passage
from fencepost.identity.domain.scope import Acl, Action, Operator, Resource, Scope, authorize
from fencepost.retrieval.domain.ranking.fields import REACH, Said, blended, message_fields
from fencepost.retrieval.domain.ranking.fusion import LIST_LIMIT, Lists, Profile, Ranked, Weights, fuse
from fencepost.retrieval.domain.ranking.selection import collapsed, diversified, relevant
from fencepost.retrieval.domain.ranking.terms import terms
from fencepost.retrieval.domain.search import Hit, IndexEntry, Search
from fencepost.retrieval.indexes.embedded.index import EmbeddedIndex

WANTED: Final = 10
GRANTS: Final = frozenset({"site:*"})
_NEW_YEAR: Final = datetime(2025, 1, 1, tzinfo=UTC)
_ADAPTER = "fencepost.retrieval.indexes.embedded"


@dataclass(frozen=True, slots=True)
class Recipe:
    """The parts of indexing and ranking that are used.

    Attributes:
        lexical, nearest: run this query.
        chunks: split documents into chunks; else each is one entry.
        context: entries contain their headings or neighbouring turns.
        address: add the words of the address to the context and to the embedded text.
        days: add a message's date to its words.
        beside: blend the neighbours' vectors into a message's vector.
        analysis: stem words, and omit stop words from queries.
        by_ranks: use reciprocal rank fusion (k = 60) instead of the sum of scores.
        floor: return nothing if even the best hit is not relevant.
        diverse: prefer hits that differ from those already selected.
    """

    lexical: bool = True
    nearest: bool = True
    chunks: bool = True
    context: bool = True
    address: bool = True
    days: bool = True
    beside: bool = True
    analysis: bool = True
    by_ranks: bool = False
    floor: bool = True
    diverse: bool = True
    limit: int = LIST_LIMIT
    weights: Weights = field(default_factory=Weights)


OURS: Final = Recipe()
_ALONE = Recipe(chunks=False, context=False, address=False, days=False, beside=False, floor=False, diverse=False)
_PLAIN = Weights(speaker=0, wording=0)
WORDS_ALONE: Final = replace(_ALONE, nearest=False, weights=_PLAIN)
VECTORS_ALONE: Final = replace(_ALONE, lexical=False, weights=_PLAIN)


@contextmanager
def searchable(
    data_set: DataSet, recipe: Recipe, vectors: RememberedVectors
) -> Iterator[Callable[[str], tuple[Ranked, ...]]]:
    """Index a data set, and yield a function that finds the best hits for a question."""
    scope = authorize(Operator("acme"), Action.WRITE, Resource("acme", f"member:{data_set.name}"))
    with ExitStack() as stack:
        if not recipe.analysis:
            stack.enter_context(patch(f"{_ADAPTER}.writing.analysed", terms))
            stack.enter_context(patch(f"{_ADAPTER}.words.asked", lambda text: tuple(dict.fromkeys(terms(text)))))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        index = EmbeddedIndex(Path(folder) / "index.db")
        stack.callback(index.close)
        index.upsert(scope, list(_entries(data_set, recipe, vectors, scope)))
        asked = vectors.questions([*(case.question for case in data_set.cases), *data_set.strangers])
        search = Search(
            kind=data_set.kind, grants=GRANTS if data_set.kind == "document" else frozenset(), limit=recipe.limit
        )

        def find(question: str) -> tuple[Ranked, ...]:
            words = index.lexical(scope, search, question) if recipe.lexical else ()
            meant = index.nearest(scope, search, asked[question], vectors.model) if recipe.nearest else ()
            return _chosen(data_set, recipe, Lists(words, meant), question)

        yield find


def unit_of(data_set: DataSet, hit: Hit) -> str:
    """Return the unit that contains a hit."""
    return hit.parent if data_set.kind == "document" else hit.chunk


def _chosen(data_set: DataSet, recipe: Recipe, lists: Lists, question: str) -> tuple[Ranked, ...]:
    profile = Profile.DOCUMENTS if data_set.kind == "document" else Profile.MESSAGES
    ranked = _by_ranks(lists) if recipe.by_ranks else fuse(lists, profile, question, recipe.weights)
    kept = relevant(ranked, question) if recipe.floor else ranked
    parts = collapsed(kept, lambda each: unit_of(data_set, each.hit))
    return diversified(parts, WANTED) if recipe.diverse else parts[:WANTED]


def _by_ranks(lists: Lists) -> tuple[Ranked, ...]:
    scores, hits = dict[str, float](), dict[str, Hit]()
    for found in (lists.lexical, lists.nearest):
        for place, hit in enumerate(found, start=1):
            hits[hit.stored_id] = hit
            scores[hit.stored_id] = scores.get(hit.stored_id, 0.0) + 1 / (60 + place)
    return tuple(Ranked(hits[name], scores[name]) for name in sorted(hits, key=lambda name: (-scores[name], name)))


def _entries(data_set: DataSet, recipe: Recipe, vectors: RememberedVectors, scope: Scope) -> Iterator[IndexEntry]:
    make = _of_documents if data_set.kind == "document" else _of_messages
    for entry in make(data_set, recipe, vectors, scope):
        yield entry if recipe.context else replace(entry, context="")


def _of_documents(data_set: DataSet, recipe: Recipe, vectors: RememberedVectors, scope: Scope) -> Iterator[IndexEntry]:
    rows = [
        (document, row)
        for document, unit in ((_document(unit, recipe, scope), unit) for unit in data_set.units)
        for row in _rows(document, unit.text, recipe, vectors)
    ]
    embedded = vectors.passages([passage(document, row) for document, row in rows])
    for document, row in rows:
        yield entry_of(document, replace(row, vector=embedded[passage(document, row)]))


def _document(unit: Unit, recipe: Recipe, scope: Scope) -> Document:
    return Document(
        id=unit.id,
        org=scope.org,
        site="",
        title=unit.title,
        kind=DocumentKind.TEXT,
        origin=DocumentOrigin.INLINE,
        acl=Acl(),
        state=DocumentState.READY,
        created_at=_NEW_YEAR,
        updated_at=_NEW_YEAR,
        url=unit.place if recipe.address else "",
    )


def _rows(document: Document, text: str, recipe: Recipe, vectors: RememberedVectors) -> Iterator[ChunkRow]:
    whole = Chunk(id="whole", start=0, end=len(text), text=text)
    for each in chunk(text, vectors.count) if recipe.chunks else (whole,):
        yield ChunkRow(
            id=each.id,
            document=document.id,
            text=each.text,
            breadcrumb=each.breadcrumb,
            lead=each.lead,
            since=1,
            model=vectors.model,
        )


def _of_messages(data_set: DataSet, recipe: Recipe, vectors: RememberedVectors, scope: Scope) -> Iterator[IndexEntry]:
    said = [Said(unit.text, unit.day, unit.speaker) for unit in data_set.units]
    alone = [message_fields(each) for each in said]
    own = vectors.passages([each.passage for each in alone])
    for place, unit in enumerate(data_set.units):
        before, after = _beside(data_set.units, place)
        fields = message_fields(said[place], [said[n] for n in before], [said[n] for n in after])
        vector = own[fields.passage]
        sides = ([own[alone[n].passage] for n in side] for side in (before, after))
        yield IndexEntry(
            chunk=unit.id,
            org=scope.org,
            owner=scope.owner,
            kind="message",
            parent=unit.place,
            version=1,
            text=fields.text if recipe.days else fields.passage,
            context=fields.context,
            model=vectors.model,
            position=place,
            vector=blended(vector, *sides) if recipe.beside else vector,
        )


def _beside(units: Sequence[Unit], place: int) -> tuple[Sequence[int], Sequence[int]]:
    """Return the turns of the same session before and after a turn."""
    near = range(max(0, place - REACH), min(len(units), place + REACH + 1))
    same = [n for n in near if units[n].place == units[place].place]
    return [n for n in same if n < place], [n for n in same if n > place]
