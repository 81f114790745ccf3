"""What was embedded before is not embedded again."""

from __future__ import annotations

import pytest

from fencepost.retrieval.domain.search import EmbedderUnavailable
from fencepost.retrieval.service.embedding import CachedEmbedder
from tests.fakes.corpus import PortFaults, operator
from tests.fakes.index import FakeEmbedder, FakeEmbeddingCache, vector_of


def cached(batch: int = 96, faults: PortFaults | None = None) -> tuple[CachedEmbedder, FakeEmbedder]:
    inner = FakeEmbedder(faults)
    return CachedEmbedder(inner, FakeEmbeddingCache(), batch), inner


def test_only_misses_are_embedded_and_the_order_is_kept() -> None:
    embedder, inner = cached()
    embedder.passages(operator(), ["a", "b"])

    vectors = embedder.passages(operator(), ["c", "a", "b", "a"])

    assert vectors == tuple(map(vector_of, ["c", "a", "b", "a"]))
    assert inner.embedded == ["a", "b", "c"]


def test_a_text_that_comes_twice_is_embedded_once() -> None:
    embedder, inner = cached()

    assert embedder.passages(operator(), ["a", "a"]) == (vector_of("a"),) * 2
    assert inner.embedded == ["a"]


def test_the_embedder_gets_batches() -> None:
    embedder, inner = cached(batch=4)

    embedder.passages(operator(), [str(number) for number in range(10)])

    assert inner.batches == [4, 4, 2]


def test_organisations_and_models_share_nothing() -> None:
    cache = FakeEmbeddingCache()
    first, other = FakeEmbedder(), FakeEmbedder(name="other/16")

    CachedEmbedder(first, cache).passages(operator("acme"), ["a"])
    CachedEmbedder(first, cache).passages(operator("zeta"), ["a"])
    CachedEmbedder(other, cache).passages(operator("acme"), ["a"])

    assert (first.embedded, other.embedded) == (["a", "a"], ["a"])


def test_what_was_embedded_before_a_failure_is_remembered() -> None:
    faults = PortFaults()
    embedder, inner = cached(batch=2, faults=faults)
    faults.at(1, "before")

    with pytest.raises(EmbedderUnavailable):
        embedder.passages(operator(), ["a", "b", "c", "d"])
    embedder.passages(operator(), ["a", "b", "c", "d"])

    assert inner.embedded == ["a", "b", "c", "d"]
