"""Remembered embeddings, on the emulated DynamoDB."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.retrieval.dynamodb import KEPT, DynamoDbEmbeddingCache
from local.emulator import Emulator
from tests.fakes.answers import FixedClock
from tests.fakes.corpus import operator
from tests.integration.corpus_tables import CorpusTable, open_corpus_table
from tests.integration.tables import connect

ACME, ZETA = operator("acme"), operator("zeta")
MODEL = "amazon.titan-embed-text-v2:0/1024"


@pytest.fixture
def table(emulator: Emulator) -> CorpusTable:
    return open_corpus_table(emulator.endpoint_url)


def test_a_vector_is_known_to_its_organisation_and_model_alone(table: CorpusTable) -> None:
    cache = DynamoDbEmbeddingCache(table.name, lambda: table.client)
    vectors = {f"{number:064x}": (0.6, -0.8) for number in range(130)}

    cache.remember(ACME, MODEL, vectors)

    found = cache.known(ACME, MODEL, [*vectors, "f" * 64, "f" * 64])
    assert set(found) == set(vectors)
    assert found["0" * 64] == pytest.approx((0.6, -0.8), abs=1e-3)
    assert cache.known(ZETA, MODEL, list(vectors)) == {}
    assert cache.known(ACME, "other", list(vectors)) == {}
    assert cache.known(ACME, MODEL, []) == {}


def test_a_vector_is_forgotten_after_its_time(table: CorpusTable) -> None:
    clock = FixedClock()
    cache = DynamoDbEmbeddingCache(table.name, lambda: table.client, clock)
    cache.remember(ACME, MODEL, {"0": (1.0,)})

    clock.advance((KEPT - timedelta(seconds=1)).total_seconds())
    assert cache.known(ACME, MODEL, ["0"])
    clock.advance(2)
    assert cache.known(ACME, MODEL, ["0"]) == {}


def test_a_store_that_does_not_answer_knows_nothing(emulator: Emulator) -> None:
    client = connect(emulator.endpoint_url)
    cache = DynamoDbEmbeddingCache("no-such-table", lambda: client)

    cache.remember(ACME, MODEL, {"0": (1.0,)})

    assert cache.known(ACME, MODEL, ["0"]) == {}
