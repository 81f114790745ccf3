"""OpenSearch query bodies. Each filters by organisation, owner, kind and grants; k-NN does so inside the search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from fencepost.identity.domain.scope import Scope
from fencepost.retrieval.domain.ranking.terms import query_terms, terms
from fencepost.retrieval.domain.search import Search, Vector
from fencepost.retrieval.indexes.entries import owner_of
from fencepost.retrieval.indexes.opensearch.mapping import LANGUAGES, PLUGIN_LANGUAGES, WORDS, reading

MAX_QUERY_TERMS: Final = 90
"""Most terms of a query, repetitions included. Lucene counts each term once per field, and allows 1,024."""

HIT_FIELDS: Final = ["first_id", "chunk", "parent", "version", "model", "text", "context", "position"]
STORED_FIELDS: Final = ["first_id", "entry", "chunk", "parent", "owner", "version", "model"]

type SearchBody = dict[str, Any]


def lexical(scope: Scope, search: Search, text: str) -> SearchBody:
    """Return the query by words: the better score of our own terms and of the analyser of the entry's language."""
    terms = {"match": {WORDS[search.kind]: " ".join(query_terms(text)[:MAX_QUERY_TERMS])}}
    readings = [reading(code) for code in LANGUAGES | PLUGIN_LANGUAGES]
    spoken = {"multi_match": {"query": shortened(text), "fields": readings, "type": "best_fields"}}
    query = {"bool": {**_filter(scope, search), "must": [{"dis_max": {"queries": [terms, spoken]}}]}}
    return {"size": search.limit, "query": query, "_source": HIT_FIELDS}


def nearest(scope: Scope, search: Search, vector: Vector, model: str, field: Literal["text", "context"]) -> SearchBody:
    """Return the k-NN query on vectors of the same model."""
    within = _filter(scope, search)
    within["filter"].append({"term": {"model": model}})
    name = "vector" if field == "text" else "context_vector"
    near = {"vector": list(vector), "k": search.limit, "filter": {"bool": within}}
    return {"size": search.limit, "query": {"knn": {name: near}}, "_source": HIT_FIELDS}


def stored(scope: Scope, ids: Sequence[str]) -> SearchBody:
    """Return the query for entries by id, or by their id in the index that they were copied from."""
    named = [{"ids": {"values": list(ids)}}, {"terms": {"first_id": list(ids)}}]
    query = {"bool": {"filter": [{"term": {"org": scope.org}}], "should": named, "minimum_should_match": 1}}
    # Twice, because during a migration the entry and its copy may both be found.
    return {"size": 2 * len(ids), "query": query, "_source": ["first_id"]}


def listed(within: SearchBody, after: str | None, limit: int, fields: Sequence[str]) -> SearchBody:
    """Return the query for a page of entries, in a stable order."""
    body = {"size": limit, "query": within, "sort": [{"entry": "asc"}], "_source": list(fields)}
    return body | ({"search_after": [after]} if after else {})


def of_organisation(scope: Scope, parent: str, owner: str) -> SearchBody:
    """Return the filter by organisation, and by parent or owner unless they are empty."""
    named = {"org": scope.org, "parent": parent, "owner": owner}
    return {"bool": {"filter": [{"term": {field: value}} for field, value in named.items() if value]}}


def shortened(text: str) -> str:
    """Return the beginning of a text, with at most `MAX_QUERY_TERMS` terms."""
    while sum(1 for _ in terms(text)) > MAX_QUERY_TERMS:
        text = text[: len(text) * 3 // 4]
    return text


def _filter(scope: Scope, search: Search) -> dict[str, list[SearchBody]]:
    owner = owner_of(scope, search.kind)
    own: list[SearchBody] = [{"term": {"org": scope.org}}, {"term": {"kind": search.kind}}, {"term": {"owner": owner}}]
    if search.kind == "document":
        own.append({"terms": {"grants": sorted(search.grants)}})
    excluded = [{"term": {"parent": search.exclude_parent}}] if search.exclude_parent else []
    return {"filter": own, "must_not": excluded}
