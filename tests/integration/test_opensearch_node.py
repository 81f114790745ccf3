"""A real OpenSearch keeps what the index builds on: k-NN that filters inside its search, BM25 and its analysers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from opensearchpy import OpenSearch
from opensearchpy.exceptions import RequestError

pytestmark = pytest.mark.skipif("OPENSEARCH_URL" not in os.environ, reason="make test-opensearch runs these")

# Unit vectors, by their cosine with the first: 1, 0.8, 0.6, 0, -1.
VECTORS = {"same": [1.0, 0.0], "near": [0.8, 0.6], "far": [0.6, 0.8], "right": [0.0, 1.0], "opposite": [-1.0, 0.0]}
# All nearer to the first than `near` is.
CROWD = {f"other-{number}": [1.0, number / 1000] for number in range(200)}
MAPPING = {
    "settings": {"index": {"knn": True, "number_of_shards": 1, "number_of_replicas": 0}},
    "mappings": {
        "dynamic": "strict",
        "properties": {
            "name": {"type": "keyword"},
            "org": {"type": "keyword"},
            "text": {"type": "text", "analyzer": "german"},
            "vector": {
                "type": "knn_vector",
                "dimension": 2,
                "method": {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"},
            },
        },
    },
}


@pytest.fixture(scope="module")
def client() -> Iterator[OpenSearch]:
    """Yield a client of it."""
    with OpenSearch(os.environ["OPENSEARCH_URL"], timeout=60) as opened:
        yield opened


@pytest.fixture(scope="module")
def index(client: OpenSearch) -> Iterator[str]:
    """Yield the name of an index where another organisation has two hundred of the nearest vectors."""
    name = f"node-{uuid4().hex}"
    client.indices.create(index=name, body=MAPPING)
    assert not client.bulk(
        index=name, body=[*entries("acme", VECTORS), *entries("other", CROWD)], params={"refresh": "true"}
    )["errors"]
    yield name
    client.indices.delete(index=name)


def test_the_filter_holds_inside_the_search(client: OpenSearch, index: str) -> None:
    """Two hundred nearer neighbours of another organisation push none of the five out."""
    hits = nearest(client, index, 5, {"term": {"org": "acme"}})
    assert [hit["_source"]["name"] for hit in hits] == list(VECTORS)


def test_a_score_tells_the_cosine(client: OpenSearch, index: str) -> None:
    hits = nearest(client, index, 5, {"term": {"org": "acme"}})
    assert [2 * hit["_score"] - 1 for hit in hits] == pytest.approx([1, 0.8, 0.6, 0, -1], abs=1e-6)


def test_words_are_found_in_their_other_forms(client: OpenSearch, index: str) -> None:
    found = client.search(index=index, body={"query": {"match": {"text": "Haus"}}})
    assert found["hits"]["total"]["value"] == len(VECTORS) + len(CROWD)


def test_a_vector_of_another_length_is_refused(client: OpenSearch, index: str) -> None:
    with pytest.raises(RequestError, match="mapper_parsing_exception"):
        client.index(index=index, body={"org": "acme", "vector": [1.0, 0.0, 0.0]})


def nearest(client: OpenSearch, index: str, wanted: int, only: dict[str, Any]) -> list[dict[str, Any]]:
    query = {"knn": {"vector": {"vector": VECTORS["same"], "k": wanted, "filter": only}}}
    hits: list[dict[str, Any]] = client.search(index=index, body={"size": wanted, "query": query})["hits"]["hits"]
    return hits


def entries(org: str, vectors: dict[str, list[float]]) -> Iterator[dict[str, Any]]:
    """Yield the lines of a bulk request, in pairs."""
    for name, vector in vectors.items():
        yield {"index": {}}
        yield {"name": name, "org": org, "vector": vector, "text": "Die Häuser"}
