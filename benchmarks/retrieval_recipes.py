"""How a shelf is put into an index and searched: as the project does, or with a part of that left out."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from unittest.mock import patch

from benchmarks.retrieval_sets import Shelf, Unit
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
    """What is done and what is left out.

    Attributes:
        lexical, nearest: whether the query is asked.
        pieces: documents are cut; else each is one entry.
        context: entries have the words around theirs.
        address: its words are part of the context, and of what is embedded.
        days: a message's day is among its words.
        beside: a message's vector has a part of its neighbours'.
        analysis: words lose their endings, and stop words are not asked for.
        by_ranks: reciprocal rank fusion (k = 60) in the place of the sum of scores.
        floor: nothing is given where not even the best is relevant.
        diverse: the last choice prefers what says something new.
    """

    lexical: bool = True
    nearest: bool = True
    pieces: bool = True
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
_ALONE = Recipe(pieces=False, context=False, address=False, days=False, beside=False, floor=False, diverse=False)
_PLAIN = Weights(speaker=0, wording=0)
WORDS_ALONE: Final = replace(_ALONE, nearest=False, weights=_PLAIN)
VECTORS_ALONE: Final = replace(_ALONE, lexical=False, weights=_PLAIN)


@contextmanager
def searchable(
    shelf: Shelf, recipe: Recipe, vectors: RememberedVectors
) -> Iterator[Callable[[str], tuple[Ranked, ...]]]:
    """Put a shelf into an index, and lend what finds the best of it for a question."""
    scope = authorize(Operator("acme"), Action.WRITE, Resource("acme", f"member:{shelf.name}"))
    with ExitStack() as stack:
        if not recipe.analysis:
            stack.enter_context(patch(f"{_ADAPTER}.writing.analysed", terms))
            stack.enter_context(patch(f"{_ADAPTER}.words.asked", lambda text: tuple(dict.fromkeys(terms(text)))))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        index = EmbeddedIndex(Path(folder) / "index.db")
        stack.callback(index.close)
        index.upsert(scope, list(_entries(shelf, recipe, vectors, scope)))
        asked = vectors.questions([*(case.question for case in shelf.cases), *shelf.strangers])
        search = Search(kind=shelf.kind, grants=GRANTS if shelf.kind == "document" else frozenset(), limit=recipe.limit)

        def find(question: str) -> tuple[Ranked, ...]:
            words = index.lexical(scope, search, question) if recipe.lexical else ()
            meant = index.nearest(scope, search, asked[question], vectors.model) if recipe.nearest else ()
            return _chosen(shelf, recipe, Lists(words, meant), question)

        yield find


def unit_of(shelf: Shelf, hit: Hit) -> str:
    """Return the unit that a hit is in."""
    return hit.parent if shelf.kind == "document" else hit.chunk


def _chosen(shelf: Shelf, recipe: Recipe, lists: Lists, question: str) -> tuple[Ranked, ...]:
    profile = Profile.DOCUMENTS if shelf.kind == "document" else Profile.MESSAGES
    ranked = _by_ranks(lists) if recipe.by_ranks else fuse(lists, profile, question, recipe.weights)
    kept = relevant(ranked, question) if recipe.floor else ranked
    parts = collapsed(kept, lambda each: unit_of(shelf, each.hit))
    return diversified(parts, WANTED) if recipe.diverse else parts[:WANTED]


def _by_ranks(lists: Lists) -> tuple[Ranked, ...]:
    scores, hits = dict[str, float](), dict[str, Hit]()
    for found in (lists.lexical, lists.nearest):
        for place, hit in enumerate(found, start=1):
            hits[hit.stored_id] = hit
            scores[hit.stored_id] = scores.get(hit.stored_id, 0.0) + 1 / (60 + place)
    return tuple(Ranked(hits[name], scores[name]) for name in sorted(hits, key=lambda name: (-scores[name], name)))


def _entries(shelf: Shelf, recipe: Recipe, vectors: RememberedVectors, scope: Scope) -> Iterator[IndexEntry]:
    make = _of_documents if shelf.kind == "document" else _of_messages
    for entry in make(shelf, recipe, vectors, scope):
        yield entry if recipe.context else replace(entry, context="")


def _of_documents(shelf: Shelf, recipe: Recipe, vectors: RememberedVectors, scope: Scope) -> Iterator[IndexEntry]:
    rows = [
        (document, row)
        for document, unit in ((_document(unit, recipe, scope), unit) for unit in shelf.units)
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
    for piece in chunk(text, vectors.count) if recipe.pieces else (whole,):
        yield ChunkRow(
            id=piece.id,
            document=document.id,
            text=piece.text,
            breadcrumb=piece.breadcrumb,
            lead=piece.lead,
            since=1,
            model=vectors.model,
        )


def _of_messages(shelf: Shelf, recipe: Recipe, vectors: RememberedVectors, scope: Scope) -> Iterator[IndexEntry]:
    said = [Said(unit.text, unit.day, unit.speaker) for unit in shelf.units]
    alone = [message_fields(each) for each in said]
    own = vectors.passages([each.passage for each in alone])
    for place, unit in enumerate(shelf.units):
        before, after = _beside(shelf.units, place)
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
    """Return the turns of the same session before and after one."""
    near = range(max(0, place - REACH), min(len(units), place + REACH + 1))
    same = [n for n in near if units[n].place == units[place].place]
    return [n for n in same if n < place], [n for n in same if n > place]
