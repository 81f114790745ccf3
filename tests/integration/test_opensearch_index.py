"""The index on OpenSearch: against a double of Serverless of both generations, and against a real node.

The node is the one that `OPENSEARCH_URL` names; `make test-opensearch` starts one.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

import pytest

from fencepost.retrieval.indexes.opensearch.cluster import Cluster, Limits
from fencepost.retrieval.indexes.opensearch.index import OpenSearchIndex
from tests.conformance.index import IndexConformance
from tests.conformance.index_entries import DOCUMENTS, MODEL, Owner, Subject, chunks
from tests.doubles import opensearch as opensearch_double

URL = os.environ.get("OPENSEARCH_URL", "")


@pytest.fixture(scope="class")
def on_double(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with opensearch_double.running(request.param) as (url, double):
        cluster = Cluster(endpoint=url, generation=request.param, region="eu-west-1")
        yield Subject(OpenSearchIndex(cluster, MODEL), double.advance)
        # Of vectors of other dimensions nobody knows before the index says so.
        assert set(double.refused) <= {"Query vector has invalid dimension"}


@pytest.mark.parametrize("on_double", ["classic", "next"], indirect=True)
class TestOnServerless(IndexConformance):
    @pytest.fixture
    def subject(self, on_double: Subject) -> Subject:
        return on_double


@pytest.fixture(scope="module")
def on_node() -> Iterator[Subject]:
    # A loaded machine takes its time, and speed is not what is tested.
    cluster = Cluster(endpoint=URL, generation="node", limits=Limits(search=30, write=60))
    alias = f"test-{uuid.uuid4().hex[:8]}"
    yield Subject(OpenSearchIndex(cluster, MODEL, alias=alias), lambda: refreshed(cluster, alias))
    for name in cluster.request("GET", f"/{alias}-v*"):
        cluster.request("DELETE", f"/{name}")


def refreshed(cluster: Cluster, alias: str) -> None:
    cluster.request("POST", f"/{alias}/_refresh")


@pytest.mark.skipif(not URL, reason="OPENSEARCH_URL names no node")
class TestOnNode(IndexConformance):
    @pytest.fixture
    def subject(self, on_node: Subject) -> Subject:
        return on_node

    def test_a_text_of_a_known_language_is_read_by_its_rules(self, subject: Subject) -> None:
        one = Owner()
        text = "Die Häuser wurden verkauft."
        subject.write(one.scope, one.entry("known", text, language="de-AT"), one.entry("unknown", text))
        assert chunks(subject.index.lexical(one.scope, DOCUMENTS, "Haus")) == ["known"]
