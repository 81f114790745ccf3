"""The corpus' table on the emulated DynamoDB: races, lost answers, and which rows and requests there are.

What every `CorpusStore` does is in `tests.conformance.corpus`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from fencepost.documents.domain.documents import DocumentState
from fencepost.queue.domain import WorkLease
from local.emulator import Emulator
from tests.fakes.corpus import operator
from tests.integration.corpus_tables import CorpusTable, open_corpus_table
from tests.integration.tables import lose_answers, sent_operations
from tests.worlds.corpus_samples import NOON, chunk, chunk_id, document

ACME, ZETA = operator("acme"), operator("zeta")


@pytest.fixture
def table(emulator: Emulator) -> CorpusTable:
    return open_corpus_table(emulator.endpoint_url)


def test_of_two_changes_of_the_same_row_one_is_made(table: CorpusTable) -> None:
    before = document()
    table.store.create(ACME, before)
    wanted = [replace(before, title=f"Title {number}") for number in range(8)]

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda after: table.store.change(ACME, before, after), wanted))

    assert made.count(True) == 1
    assert table.store.get(ACME, "d1") == wanted[made.index(True)]


def test_nothing_is_left_of_a_removed_document(table: CorpusTable) -> None:
    table.store.create(ACME, document())
    table.store.begin(ACME, "d1", WorkLease("mine", NOON, NOON + timedelta(minutes=2)))

    table.store.remove(ACME, "d1")
    table.store.remove(ACME, "d1")

    assert table.rows() == []


def test_an_upload_that_never_comes_does_not_stay_announced(table: CorpusTable) -> None:
    awaited = document(state=DocumentState.AWAITED)
    table.store.create(ACME, awaited)
    assert int(table.rows()[0]["expires_at"]["N"]) == int((NOON + timedelta(days=1)).timestamp())

    table.store.change(ACME, awaited, replace(awaited, state=DocumentState.QUEUED))

    assert "expires_at" not in table.rows()[0]


def test_a_creation_whose_answer_was_lost_succeeds(table: CorpusTable) -> None:
    lose_answers(table.client, 1)
    assert table.store.create(ACME, document())
    assert table.store.get(ACME, "d1") == document()


def test_a_change_whose_answer_was_lost_succeeds(table: CorpusTable) -> None:
    before = document()
    after = replace(before, state=DocumentState.READY)
    table.store.create(ACME, before)
    lose_answers(table.client, 1)
    assert table.store.change(ACME, before, after)
    assert table.store.get(ACME, "d1") == after


def test_hydration_sends_batch_reads_alone(table: CorpusTable) -> None:
    for number in range(30):
        table.store.create(ACME, document(f"d{number}"))
        table.store.put_chunks(ACME, f"d{number}", [chunk(name, f"d{number}") for name in "abcd"])
    wanted = [(f"d{number}", chunk_id(name)) for number in range(30) for name in "abcd"]
    sent = sent_operations(table.client)
    documents, rows = table.store.hydrate(ACME, wanted)
    assert (len(documents), len(rows)) == (30, 120)
    assert set(sent) == {"BatchGetItem"}
