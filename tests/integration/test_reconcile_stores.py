"""The registry of organisations, remembered conversations and the progress of comparisons, on the emulated DynamoDB."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fencepost.identity.domain.sites import Organisation, Site
from fencepost.identity.dynamodb.directory_admin import DynamoDbDirectoryAdmin
from fencepost.jobs.domain.index_diff import DiffProgress, DiffStep
from fencepost.jobs.dynamodb.reconciler import DynamoDbReconcileStore
from fencepost.jobs.dynamodb.registry import DynamoDbOrganisationRegistry
from fencepost.memory.dynamodb.chunks import DynamoDbRememberedConversations
from fencepost.queue.domain import Purpose, WorkLease
from fencepost.queue.dynamodb import DynamoDbJobStore
from local.emulator import Emulator
from tests.conformance.samples import NOW, job_for, visitor_scope
from tests.fakes.corpus import operator
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables
from tests.integration.corpus_tables import open_corpus_table


@pytest.fixture
def own(emulator: Emulator) -> ConversationTables:
    return open_conversation_tables(emulator.endpoint_url)


def test_every_organisation_is_on_the_roll_once_whichever_of_its_rows_came_first(own: ConversationTables) -> None:
    admin = DynamoDbDirectoryAdmin(own.directory, lambda: own.client)
    registry = DynamoDbOrganisationRegistry(own.directory, lambda: own.client)
    assert registry.page(after=None, limit=9).items == ()
    for _ in range(2):
        admin.put_organisation(operator("zeta"), Organisation(id="zeta"))
        admin.put_site(operator("acme"), Site(org="acme", id="docs", key="acme-docs"))
        admin.put_site(operator("mid"), Site(org="mid", id="docs", key="mid-docs"))
    first = registry.page(after=None, limit=2)
    assert (first.items, first.next_key) == (("acme", "mid"), "mid")
    assert registry.page(after="mid", limit=2).items == ("zeta",)
    assert registry.page(after="beta", limit=1).items == ("mid",), "one that is not listed has its place all the same"
    assert registry.page(after="zeta", limit=2).items == ()


def test_progress_is_not_listed_among_documents(emulator: Emulator) -> None:
    table = open_corpus_table(emulator.endpoint_url)
    store = DynamoDbReconcileStore(table.name, lambda: table.client)
    store.keep(operator("acme"), DiffProgress(step=DiffStep.DOCUMENTS, after="2026|d1", within="c7"))
    assert table.store.page(operator("acme"), after=None, limit=9).items == ()


def test_whose_turn_it_was_lists_no_organisation(own: ConversationTables) -> None:
    registry = DynamoDbOrganisationRegistry(own.directory, lambda: own.client)
    registry.done("acme")
    assert registry.page(after=None, limit=9).items == ()


def test_a_conversation_is_listed_from_the_moment_on_when_work_on_its_memory_begins(own: ConversationTables) -> None:
    jobs = DynamoDbJobStore(own.conversations, lambda: own.client)
    remembered = DynamoDbRememberedConversations(own.conversations, lambda: own.client)
    lease = WorkLease("w", NOW, NOW + timedelta(seconds=60))
    for org, visitor, name in (
        ("acme", "v1", "c1"),
        ("acme", "v/2#", "c#2"),
        ("acme", "v3", "c3"),
        ("zeta", "v1", "c1"),
    ):
        scope = visitor_scope(org, visitor)
        own.begin(scope, id=name)
        purpose = Purpose.SUMMARISE if name == "c3" else Purpose.REMEMBER
        assert jobs.begin(scope, job_for(scope, conversation=name, purpose=purpose), lease) == 0
        jobs.end(scope, job_for(scope, conversation=name, purpose=purpose), lease, 4)
    first = remembered.conversations(operator("acme"), after=None, limit=1)
    rest = remembered.conversations(operator("acme"), after=first.next_key, limit=5)
    assert {*first.items, *rest.items} == {("visitor:v1", "c1"), ("visitor:v/2#", "c#2")}
    assert (len(first.items), len(rest.items), rest.next_key) == (1, 1, None)
    assert remembered.conversations(operator("zeta"), after=None, limit=5).items == (("visitor:v1", "c1"),)
