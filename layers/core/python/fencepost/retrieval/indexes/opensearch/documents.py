"""Entries as OpenSearch's documents, and back."""

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
    """Return the document of an entry. Its `entry` is unique, sortable, and kept when it moves to another index."""
    vectors = {"vector": entry.vector, "context_vector": entry.context_vector}
    plain = ("chunk", "org", "owner", "kind", "parent", "version", "position", "model", "language", "text", "context")
    return {
        "entry": secrets.token_hex(_ENTRY_BYTES),
        "grants": sorted(entry.grants),
        **_searched(entry),
        **{name: getattr(entry, name) for name in plain},
        **{name: list(vector) for name, vector in vectors.items() if vector},
    }


def _searched(entry: IndexEntry) -> dict[str, str]:
    text, context = " ".join(index_terms(entry.text)), " ".join(index_terms(entry.context))
    words = {WORDS[entry.kind]: " ".join([text] * TEXT_REPETITIONS[entry.kind] + [context])}
    own = reading(entry.language)
    return words | ({own: f"{entry.text}\n{entry.context}"} if own else {})


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
    """Return what the services call an entry: with its organisation, so that no other's is ever deleted by it."""
    return f"{scope.org}:{first_id(found)}"


def first_id(found: FoundDocument) -> str:
    """Return what the index called an entry that was first written to."""
    return str(found["_source"].get("first_id", found["_id"]))


def own_ids(scope: Scope, stored_ids: tuple[str, ...]) -> list[str]:
    """Return what the index calls those of the entries that are the organisation's."""
    parts = (name.partition(":") for name in stored_ids)
    return [identifier for org, _, identifier in parts if org == scope.org and identifier]


def hit_of(scope: Scope, found: FoundDocument, score: float) -> Hit:
    """Return a hit of a search."""
    source = found["_source"]
    return Hit(
        stored_id=stored_id(scope, found),
        score=score,
        **{name: source[name] for name in ("chunk", "parent", "version", "model", "text", "context", "position")},
    )


def stored_of(scope: Scope, found: FoundDocument) -> Stored:
    """Return an entry as it is listed."""
    source = found["_source"]
    names = ("chunk", "parent", "owner", "version", "model")
    return Stored(stored_id=stored_id(scope, found), **{name: source[name] for name in names})


def inner_product(score: float) -> float:
    """Return the inner product that a score of k-NN was made of: `1 + p`, and `1 / (1 - p)` below zero."""
    return score - 1 if score >= 1 else 1 - 1 / max(score, 1e-9)
