"""`DynamoDbOrganisationRegistry` and `DynamoDbReconcileStore` against the conformance tests of their ports."""

from __future__ import annotations

import pytest

from fencepost.identity.domain.sites import Organisation
from fencepost.identity.dynamodb.directory_admin import DynamoDbDirectoryAdmin
from fencepost.jobs.dynamodb.reconciler import DynamoDbReconcileStore
from fencepost.jobs.dynamodb.registry import DynamoDbOrganisationRegistry
from local.emulator import Emulator
from tests.conformance.reconciling import ORGS, ReconcileConformance, RegistryConformance
from tests.fakes.corpus import operator
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables
from tests.integration.corpus_tables import CorpusTable, open_corpus_table


class TestDynamoDbRegistry(RegistryConformance):
    @pytest.fixture
    def tables(self, emulator: Emulator) -> ConversationTables:
        return open_conversation_tables(emulator.endpoint_url)

    @pytest.fixture
    def subject(self, tables: ConversationTables) -> DynamoDbOrganisationRegistry:
        admin = DynamoDbDirectoryAdmin(tables.directory, lambda: tables.client)
        for org in reversed(ORGS):
            admin.put_organisation(operator(org), Organisation(id=org))
        return DynamoDbOrganisationRegistry(tables.directory, lambda: tables.client)

    @pytest.fixture
    def broken(self, tables: ConversationTables) -> DynamoDbOrganisationRegistry:
        return DynamoDbOrganisationRegistry("no-such-table", lambda: tables.client)


class TestDynamoDbReconcileStore(ReconcileConformance):
    @pytest.fixture
    def table(self, emulator: Emulator) -> CorpusTable:
        return open_corpus_table(emulator.endpoint_url)

    @pytest.fixture
    def subject(self, table: CorpusTable) -> DynamoDbReconcileStore:
        return DynamoDbReconcileStore(table.name, lambda: table.client)

    @pytest.fixture
    def broken(self, table: CorpusTable) -> DynamoDbReconcileStore:
        return DynamoDbReconcileStore("no-such-table", lambda: table.client)
