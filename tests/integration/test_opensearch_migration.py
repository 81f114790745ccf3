"""Moving to another model: searches go on, what is written and deleted meanwhile is not lost, and it may break off."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fencepost.retrieval.domain.search import EmbeddingModel, IndexEntry, IndexUnavailable
from fencepost.retrieval.indexes.opensearch import migration as migrations
from fencepost.retrieval.indexes.opensearch.bulk import Bulk
from fencepost.retrieval.indexes.opensearch.cluster import Cluster, Generation, Limits
from fencepost.retrieval.indexes.opensearch.index import OpenSearchIndex
from fencepost.retrieval.indexes.opensearch.mapping import IndexPlan
from fencepost.retrieval.indexes.opensearch.migration import Migration, Moved
from fencepost.retrieval.indexes.opensearch.setup import Indices
from tests.conformance.index_entries import DOCUMENTS, MESSAGES, MODEL, Owner, chunks, towards
from tests.doubles import opensearch as opensearch_double
from tests.doubles.opensearch import OpenSearchDouble, Waits

NEXT = EmbeddingModel(name="test/2", dimensions=2, max_tokens=512)


def embedded_anew(entries: Sequence[IndexEntry]) -> list[IndexEntry]:
    return [replace(entry, model=NEXT.name, vector=(1.0, 0.0)) for entry in entries]


@dataclass
class Town:
    """A collection with entries of two organisations, and those who use it."""

    double: OpenSearchDouble
    cluster: Cluster
    index: OpenSearchIndex
    one: Owner
    other: Owner
    stored: dict[str, str]

    def write(self, *names: str) -> None:
        entries = [self.one.entry(name, f"words of {name}") for name in names]
        try:
            stored = self.index.upsert(self.one.scope, entries)
        except IndexUnavailable:
            # The index was moved: whoever writes is deployed anew, and tries again.
            self.index = OpenSearchIndex(self.cluster, NEXT)
            stored = self.index.upsert(self.one.scope, embedded_anew(entries))
        self.stored |= dict(zip(names, stored, strict=True))

    def delete(self, name: str) -> None:
        self.index.delete(self.one.scope, [self.stored.pop(name)])

    def found(self) -> list[str]:
        return sorted(chunks(self.index.lexical(self.one.scope, replace(DOCUMENTS, limit=100), "words")))

    def migration(self) -> Migration:
        return Migration(
            plan=IndexPlan(NEXT, self.cluster.engine),
            bulk=self.bulk(),
            convert=embedded_anew,
            settle=self.double.advance,
        )

    def bulk(self) -> Bulk:
        waits = Waits()
        return Bulk(self.cluster, waits.timer, waits.pause)


@pytest.fixture(params=["classic", "next", "node"])
def town(request: pytest.FixtureRequest) -> Iterator[Town]:
    with opensearch_double.running(request.param) as (url, double):
        yield town_at(url, double)


def town_at(url: str, double: OpenSearchDouble) -> Town:
    cluster = Cluster(endpoint=url, generation=double.generation, region="eu-west-1")
    town = Town(double, cluster, OpenSearchIndex(cluster, MODEL), Owner(), Owner(), {})
    town.write(*(f"c{n}" for n in range(7)))
    town.index.upsert(town.other.scope, [town.other.entry("m1", kind="message", grants=frozenset())])
    double.advance()
    return town


def test_everything_is_moved_and_keeps_its_name(town: Town) -> None:
    assert town.migration().run() == Moved(copied=8)
    assert town.found() == sorted(town.stored)
    assert chunks(town.index.nearest(town.one.scope, DOCUMENTS, (1.0, 0.0), NEXT.name)) != []
    assert town.index.nearest(town.one.scope, DOCUMENTS, towards(0), MODEL.name) == ()
    assert chunks(town.index.lexical(town.other.scope, MESSAGES, "words")) == ["m1"]
    listed = {item.chunk: item.stored_id for item in town.index.listed(town.one.scope, None, 100).items}
    assert listed == town.stored
    assert town.index.visible(town.one.scope, list(town.stored.values())) == set(town.stored.values())
    assert len(town.double.indices) == 1


def test_what_was_moved_is_deleted_by_the_name_that_it_had(town: Town) -> None:
    town.migration().run()
    town.delete("c3")
    town.double.advance()
    assert town.found() == ["c0", "c1", "c2", "c4", "c5", "c6"]


def test_moving_again_changes_nothing(town: Town) -> None:
    town.migration().run()
    assert town.migration().run() == Moved()
    assert town.found() == sorted(town.stored)


def test_who_writes_with_the_old_model_after_the_move_is_told_to_come_back(town: Town) -> None:
    town.migration().run()
    with pytest.raises(IndexUnavailable, match="other_dimensions") as raised:
        town.index.upsert(town.one.scope, [town.one.entry()])
    assert raised.value.retriable


def test_the_first_index_needs_no_move() -> None:
    with opensearch_double.running("classic") as (url, double):
        cluster = Cluster(endpoint=url, generation="classic", region="eu-west-1")
        plan = IndexPlan(NEXT, cluster.engine)
        migration = Migration(plan=plan, bulk=Bulk(cluster), convert=list, settle=double.advance)
        assert migration.run() == Moved()
        assert OpenSearchIndex(cluster, NEXT).lexical(Owner().scope, DOCUMENTS, "words") == ()


def test_searches_go_on_while_entries_come_and_go(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrations, "COPIED_AT_ONCE", 2)
    monkeypatch.setattr(migrations, "PAGE", 3)
    moments = iter(range(1_000))
    kept = set(town.stored)

    def busy() -> None:
        """Between any two rounds somebody searches, writes and deletes, until the world is quiet."""
        assert kept <= set(town.found())
        moment = next(moments)
        if moment < 4:
            town.write(f"new{moment}")
            gone = min(kept)
            kept.remove(gone)
            town.delete(gone)
        town.double.advance()

    moved = replace(town.migration(), settle=busy).run()
    town.double.advance()
    assert town.found() == sorted(town.stored)
    assert moved.copied >= len(town.stored)
    assert next(moments) >= 4


@pytest.mark.parametrize("generation", ["classic", "node"])
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(calls=st.lists(st.integers(1, 25), min_size=1, max_size=3))
def test_it_may_break_off_at_any_call_and_be_started_again(generation: Generation, calls: list[int]) -> None:
    with opensearch_double.running(generation) as (url, double):
        town = town_at(url, double)
        for call in calls:
            double.fail_after = call
            with_failure(town)
            double.fail_after = 0
            assert town.found() == sorted(town.stored)
        town.migration().run()
        double.advance()
        assert town.found() == sorted(town.stored)
        assert len(double.indices) == 1


def with_failure(town: Town) -> None:
    try:
        town.migration().run()
    except IndexUnavailable:
        # Whoever searches has the one whole index or the other.
        town.double.fail_after = 0
        town.double.advance()


def test_what_a_move_that_was_given_up_left_behind_goes_too(town: Town) -> None:
    third = EmbeddingModel(name="test/3", dimensions=3, max_tokens=512)
    given_up = replace(town.migration(), plan=IndexPlan(third, town.cluster.engine), convert=fail)
    with pytest.raises(IndexUnavailable):
        given_up.run()
    assert len(town.double.indices) == 2
    town.migration().run()
    assert list(town.double.indices) == [IndexPlan(NEXT, town.cluster.engine).name]
    assert town.found() == sorted(town.stored)


def test_what_is_in_both_indices_is_one_entry_that_is_deleted(town: Town) -> None:
    counts: list[int] = []
    doomed = [town.stored["c1"], town.stored["c2"]]

    def removing() -> None:
        town.double.advance()
        copied = all(len(index.documents) >= len(town.stored) for index in town.double.indices.values())
        if copied and len(counts) < 2:
            counts.append(town.index.delete(town.one.scope, doomed))

    replace(town.migration(), settle=removing).run()
    assert counts == [2, 0]
    town.double.advance()
    assert town.found() == ["c0", "c3", "c4", "c5", "c6"]


def fail(entries: Sequence[IndexEntry]) -> Sequence[IndexEntry]:
    raise IndexUnavailable("given up")


@pytest.mark.skipif("OPENSEARCH_URL" not in os.environ, reason="OPENSEARCH_URL names no node")
def test_a_real_node_is_moved_as_the_double_is() -> None:
    cluster = Cluster(endpoint=os.environ["OPENSEARCH_URL"], generation="node", limits=Limits(search=30, write=60))
    one, alias = Owner(), f"test-{uuid.uuid4().hex[:8]}"
    index, indices = OpenSearchIndex(cluster, MODEL, alias=alias), Indices(cluster, alias)

    def refresh() -> None:
        cluster.request("POST", f"/{alias}-v*/_refresh")

    stored = index.upsert(one.scope, [one.entry("c1", "the words"), one.entry("c2", "more words")])
    refresh()
    plan = IndexPlan(NEXT, cluster.engine, alias)
    moved = Migration(plan=plan, bulk=Bulk(cluster), convert=embedded_anew, settle=refresh).run()
    assert moved == Moved(copied=2)
    assert indices.all() == [plan.name]
    assert index.visible(one.scope, stored) == set(stored)
    assert sorted(chunks(index.lexical(one.scope, DOCUMENTS, "words"))) == ["c1", "c2"]
    assert sorted(chunks(index.nearest(one.scope, DOCUMENTS, (1.0, 0.0), NEXT.name))) == ["c1", "c2"]
    assert index.nearest(one.scope, DOCUMENTS, towards(0), MODEL.name) == ()
    index.delete(one.scope, stored)
    refresh()
    assert index.listed(one.scope, None, 10).items == ()
    indices.drop(plan.name)
