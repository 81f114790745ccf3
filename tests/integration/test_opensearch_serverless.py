"""What a collection does to its clients: it is late, throttles, sleeps, refuses; and what the index makes of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import pytest

from fencepost.retrieval.domain.ranking.terms import terms
from fencepost.retrieval.domain.search import IndexHealth, IndexUnavailable
from fencepost.retrieval.indexes.opensearch.bulk import Bulk
from fencepost.retrieval.indexes.opensearch.cluster import Cluster, Generation, Limits
from fencepost.retrieval.indexes.opensearch.index import OpenSearchIndex
from local.processes import free_port
from tests.conformance.index_entries import DOCUMENTS, MODEL, Owner, chunks, towards
from tests.doubles import opensearch as opensearch_double
from tests.doubles.opensearch import DELAYS, OpenSearchDouble, Waits
from tests.doubles.opensearch_search import ANALYSERS


@dataclass
class Collection:
    double: OpenSearchDouble
    cluster: Cluster
    waits: Waits
    index: OpenSearchIndex


@pytest.fixture(params=["classic", "next"])
def collection(request: pytest.FixtureRequest) -> Iterator[Collection]:
    with opensearch_double.running(request.param) as (url, double):
        yield collection_at(url, double)


def collection_at(url: str, double: OpenSearchDouble) -> Collection:
    limits = Limits(connect=0.5, search=0.5, write=5, writes=10)
    cluster = Cluster(endpoint=url, generation=double.generation, region="eu-west-1", limits=limits)
    waits = Waits()
    bulk = Bulk(cluster, waits.timer, waits.pause)
    return Collection(double, cluster, waits, OpenSearchIndex(cluster, MODEL, bulk=bulk))


def test_an_entry_is_visible_when_a_search_finds_it_and_not_before(collection: Collection) -> None:
    one, delay = Owner(), DELAYS[collection.double.generation]
    stored = collection.index.upsert(one.scope, [one.entry()])
    collection.double.advance(delay - 1)
    assert collection.index.visible(one.scope, stored) == frozenset()
    assert collection.index.lexical(one.scope, DOCUMENTS, "words") == ()
    collection.double.advance(1)
    assert collection.index.visible(one.scope, stored) == set(stored)
    assert chunks(collection.index.lexical(one.scope, DOCUMENTS, "words")) == ["c1"]


def test_what_nobody_sees_yet_is_deleted_all_the_same(collection: Collection) -> None:
    one = Owner()
    stored = collection.index.upsert(one.scope, [one.entry()])
    collection.index.delete(one.scope, stored)
    collection.double.advance(200)
    assert collection.index.visible(one.scope, stored) == frozenset()


def test_throttled_entries_are_sent_again_and_no_others(collection: Collection) -> None:
    one = Owner()
    collection.double.throttle_items = 5
    stored = collection.index.upsert(one.scope, [one.entry(f"c{n}") for n in range(8)])
    collection.double.advance()
    listed = collection.index.listed(one.scope, None, 100).items
    assert sorted(chunks(listed)) == [f"c{n}" for n in range(8)]
    assert [{item.stored_id: item.chunk for item in listed}[name] for name in stored] == [f"c{n}" for n in range(8)]


def test_a_throttled_request_is_sent_again(collection: Collection) -> None:
    one = Owner()
    collection.index.upsert(one.scope, ())
    collection.double.throttle_requests = 2
    assert len(collection.index.upsert(one.scope, [one.entry()])) == 1
    assert 0.1 <= collection.waits.now <= 0.3


def test_throttling_that_does_not_end_is_given_up_inside_the_deadline(collection: Collection) -> None:
    one = Owner()
    collection.double.throttle_items = 1_000
    with pytest.raises(IndexUnavailable, match="throttled") as raised:
        collection.index.upsert(one.scope, [one.entry()])
    assert raised.value.retriable
    assert 3 < collection.waits.now <= 10


def test_what_is_refused_for_good_is_not_sent_again(collection: Collection) -> None:
    one = Owner()
    with pytest.raises(IndexUnavailable, match="400 mapper_parsing_exception") as raised:
        collection.index.upsert(one.scope, [one.entry(vector=(1.0, 0.0))])
    assert not raised.value.retriable
    assert collection.double.asked.count("POST /_bulk") == 1


@pytest.mark.parametrize(
    ("status", "reason", "retriable"),
    [
        (429, "throttled", True),
        (403, "403 unavailable", True),
        (500, "500 unavailable", True),
        (503, "503 unavailable", True),
        (400, "400 unavailable", False),
        (401, "401 unavailable", False),
    ],
)
def test_a_refusal_says_whether_later_may_do(
    collection: Collection, status: int, reason: str, *, retriable: bool
) -> None:
    one = Owner()
    collection.index.upsert(one.scope, ())
    collection.double.failing = status
    calls: list[Callable[[], object]] = [
        lambda: collection.index.lexical(one.scope, DOCUMENTS, "words"),
        lambda: collection.index.listed(one.scope, None, 10),
        lambda: collection.index.visible(one.scope, [f"{one.org}:1"]),
        lambda: collection.index.delete(one.scope, [f"{one.org}:1"]),
    ]
    for call in calls:
        with pytest.raises(IndexUnavailable) as raised:
            call()
        assert (raised.value.reason, raised.value.retriable) == (reason, retriable)
    is_waking = status == 503 and collection.double.generation == "next"
    assert collection.index.health() == IndexHealth("asleep" if is_waking else "down", reason)


def test_before_anything_was_written_it_is_well(collection: Collection) -> None:
    one = Owner()
    assert collection.index.health() == IndexHealth("ok", "empty")
    assert collection.index.listed(one.scope, None, 10, owner=one.name).items == ()
    assert collection.index.delete(one.scope, [f"{one.org}:1"]) == 0


@pytest.mark.parametrize(("generation", "state"), [("classic", "down"), ("next", "asleep")])
def test_a_collection_that_does_not_answer_in_time_may_be_waking(
    generation: Generation, state: Literal["down", "asleep"]
) -> None:
    with opensearch_double.running(generation) as (url, double):
        collection = collection_at(url, double)
        double.slow_seconds = 5
        assert collection.index.health() == IndexHealth(state, "timeout")
        with pytest.raises(IndexUnavailable, match="timeout") as raised:
            collection.index.lexical(Owner().scope, DOCUMENTS, "words")
        assert raised.value.retriable


def test_where_nobody_listens_it_is_down() -> None:
    cluster = Cluster(endpoint=f"http://127.0.0.1:{free_port()}", generation="next", region="eu-west-1")
    index = OpenSearchIndex(cluster, MODEL)
    assert index.health() == IndexHealth("down", "unreachable")
    with pytest.raises(IndexUnavailable, match="unreachable"):
        index.nearest(Owner().scope, DOCUMENTS, towards(0), MODEL.name)


def test_nothing_is_asked_for_a_reader_without_grants(collection: Collection) -> None:
    one = Owner()
    without = type(DOCUMENTS)(kind="document")
    assert collection.index.lexical(one.scope, without, "words") == ()
    assert collection.index.nearest(one.scope, without, towards(0), MODEL.name) == ()
    assert collection.double.asked == []


def test_the_index_is_made_once_by_whoever_writes_first(collection: Collection) -> None:
    one = Owner()
    again = collection_at(collection.cluster.endpoint, collection.double)
    for subject in (collection, again, collection):
        subject.index.upsert(one.scope, [one.entry()])
    assert len([asked for asked in collection.double.asked if asked.startswith("PUT")]) == 1
    assert collection.double.refused == []


def test_a_node_without_the_plugins_does_without_their_analysers() -> None:
    with opensearch_double.running("node") as (url, double):
        collection = collection_at(url, double)
        one = Owner()
        collection.index.upsert(one.scope, [one.entry(text="料金の上限を決めます")])
        double.advance()
        assert chunks(collection.index.lexical(one.scope, DOCUMENTS, "料金の上限")) == ["c1"]
        assert len(double.refused) == 1


def test_an_entry_of_a_known_language_is_read_by_that_languages_rules_as_well(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ANALYSERS, "german", lambda text: [word.removesuffix("e") for word in terms(text)])
    one, text = Owner(), "Die Zäune wurden verkauft."
    known, unknown = one.entry("known", text, language="de-AT"), one.entry("unknown", text)
    collection.index.upsert(one.scope, [known, unknown])
    collection.double.advance()
    assert chunks(collection.index.lexical(one.scope, DOCUMENTS, "Zäun")) == ["known"]
    assert set(chunks(collection.index.lexical(one.scope, DOCUMENTS, "Zäune"))) == {"known", "unknown"}


def test_what_a_part_of_the_index_finds_is_not_taken_for_all_that_there_is(collection: Collection) -> None:
    """An erasure would be verified while its entries lie in the other part."""
    one = Owner()
    stored = collection.index.upsert(one.scope, [one.entry()])
    collection.double.failed_shards = 1
    for ask in (
        lambda: collection.index.listed(one.scope, None, 10),
        lambda: collection.index.visible(one.scope, stored),
        lambda: collection.index.lexical(one.scope, DOCUMENTS, "words"),
    ):
        with pytest.raises(IndexUnavailable, match="partial"):
            ask()


def test_a_repeated_request_writes_nothing_twice_where_ids_are_ours() -> None:
    with opensearch_double.running("node") as (url, double):
        collection = collection_at(url, double)
        one = Owner()
        collection.index.upsert(one.scope, ())
        double.lose_answers = 1
        (stored,) = collection.index.upsert(one.scope, [one.entry()])
        double.advance()
        (listed,) = collection.index.listed(one.scope, None, 10).items
        assert listed.stored_id == stored


def test_where_ids_are_not_ours_an_unknown_outcome_is_the_callers_to_repeat(collection: Collection) -> None:
    one = Owner()
    collection.index.upsert(one.scope, ())
    collection.double.lose_answers = 1
    with pytest.raises(IndexUnavailable):
        collection.index.upsert(one.scope, [one.entry()])
    assert collection.double.asked.count("POST /_bulk") == 1


@pytest.mark.parametrize(
    "path",
    [
        "fencepost/_update/1",
        "fencepost/_update_by_query",
        "fencepost/_delete_by_query",
        "fencepost/_refresh",
        "_refresh",
        "_reindex",
        "_bulk?refresh=true",
    ],
)
def test_the_double_refuses_what_a_collection_refuses(collection: Collection, path: str) -> None:
    with pytest.raises(IndexUnavailable):
        collection.cluster.request("POST", f"/{path}", {})
    assert len(collection.double.refused) == 1


def test_the_double_takes_no_ids_of_the_clients_in_a_classic_collection(collection: Collection) -> None:
    one = Owner()
    collection.index.upsert(one.scope, ())
    (name,) = collection.double.indices
    item = collection.double.write({"index": {"_index": name, "_id": "mine"}}, {"entry": "e"})["index"]
    assert item["status"] == (400 if collection.double.generation == "classic" else 201)


def test_the_library_is_loaded_with_the_first_call_and_its_grpc_part_never() -> None:
    script = (
        "import sys; from fencepost.retrieval.indexes.opensearch.cluster import Cluster\n"
        "from fencepost.retrieval.indexes.opensearch.index import OpenSearchIndex\n"
        "assert 'opensearchpy' not in sys.modules and 'urllib3' not in sys.modules\n"
        "Cluster(endpoint='http://127.0.0.1:1', generation='node')._client\n"
        "assert 'opensearchpy' in sys.modules\n"
        "assert not {'grpc', 'google.protobuf', 'opensearch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env={"PYTHONPATH": os.pathsep.join(sys.path)})
