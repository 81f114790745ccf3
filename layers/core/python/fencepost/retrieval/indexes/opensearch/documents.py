"""Conversion between index entries and OpenSearch documents."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final

from fencepost.identity.domain.scope import Scope
from fencepost.retrieval.domain.ranking.terms import index_terms
from fencepost.retrieval.domain.search import Hit, IndexEntry
from fencepost.retrieval.indexes.opensearch.mapping import TEXT_REPETITIONS, WORDS, reading
from fencepost.retrieval.ports import Stored

_ENTRY_BYTES: Final = 16

type FoundDocument = Mapping[str, Any]
"""A hit of OpenSearch: `_id`, `_score`, `_source`."""


def document_of(entry: IndexEntry) -> dict[str, Any]:
    """Return the document of an entry. Its field `entry` is unique, sortable, and kept by migrations."""
    text, context = " ".join(index_terms(entry.text)), " ".join(index_terms(entry.context))
    searched = {WORDS[entry.kind]: " ".join([text] * TEXT_REPETITIONS[entry.kind] + [context])}
    if own := reading(entry.language):
        searched[own] = f"{entry.text}\n{entry.context}"
    vectors = {"vector": entry.vector, "context_vector": entry.context_vector}
    plain = ("chunk", "org", "owner", "kind", "parent", "version", "position", "model", "language", "text", "context")
    return {
        "entry": secrets.token_hex(_ENTRY_BYTES),
        "grants": sorted(entry.grants),
        **searched,
        **{name: getattr(entry, name) for name in plain},
        **{name: list(vector) for name, vector in vectors.items() if vector},
    }


def entry_of(document: Mapping[str, Any]) -> IndexEntry:
    """Return the entry of a document."""
    plain = {name: document[name] for name in ("chunk", "org", "owner", "kind", "parent", "version", "text", "model")}
    return IndexEntry(
        **plain,
        context=document["context"],
        grants=frozenset(document["grants"]),
        language=document["language"],
        position=document["position"],
        vector=tuple(document.get("vector", ())),
        context_vector=tuple(document.get("context_vector", ())),
    )


def stored_id(scope: Scope, found: FoundDocument) -> str:
    """Return the stored id of an entry. It holds the organisation, so it cannot name another organisation's entry."""
    return f"{scope.org}:{first_id(found)}"


def first_id(found: FoundDocument) -> str:
    """Return the id of an entry in the index where it was first written."""
    return str(found["_source"].get("first_id", found["_id"]))


def own_ids(scope: Scope, stored_ids: tuple[str, ...]) -> list[str]:
    """Return the index's ids of those stored ids that are of the organisation."""
    parts = (name.partition(":") for name in stored_ids)
    return [identifier for org, _, identifier in parts if org == scope.org and identifier]


def hit_of(scope: Scope, found: FoundDocument, score: float) -> Hit:
    """Return the hit of a found document."""
    source = found["_source"]
    return Hit(
        stored_id=stored_id(scope, found),
        score=score,
        **{name: source[name] for name in ("chunk", "parent", "version", "model", "text", "context", "position")},
    )


def stored_of(scope: Scope, found: FoundDocument) -> Stored:
    """Return the listed entry of a found document."""
    source = found["_source"]
    names = ("chunk", "parent", "owner", "version", "model")
    return Stored(stored_id=stored_id(scope, found), **{name: source[name] for name in names})


def inner_product(score: float) -> float:
    """Return the inner product p behind a k-NN score, which is `1 + p`, or `1 / (1 - p)` for negative p."""
    return score - 1 if score >= 1 else 1 - 1 / max(score, 1e-9)
