"""`DynamoDbDocuments` and `DynamoDbDueDocuments` against the conformance tests of their ports."""

from __future__ import annotations

import pytest

from fencepost.documents.dynamodb.documents import DynamoDbDocuments, DynamoDbDueDocuments
from local.emulator import Emulator
from tests.conformance.corpus import CorpusConformance
from tests.integration.corpus_tables import CorpusTable, open_corpus_table


class TestDynamoDbCorpus(CorpusConformance):
    @pytest.fixture
    def table(self, emulator: Emulator) -> CorpusTable:
        return open_corpus_table(emulator.endpoint_url)

    @pytest.fixture
    def subject(self, table: CorpusTable) -> DynamoDbDocuments:
        return table.store

    @pytest.fixture
    def agenda(self, table: CorpusTable) -> DynamoDbDueDocuments:
        return table.agenda

    @pytest.fixture
    def broken(self, table: CorpusTable) -> DynamoDbDocuments:
        return CorpusTable(table.client, "no-such-table").store

    @pytest.fixture
    def broken_agenda(self, table: CorpusTable) -> DynamoDbDueDocuments:
        return CorpusTable(table.client, "no-such-table").agenda
