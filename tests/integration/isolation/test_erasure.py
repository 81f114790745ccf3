"""To be forgotten, on the deployed stack: nothing of it is left anywhere, and nothing beside it is touched."""

from __future__ import annotations

import time

import pytest

from fencepost.retrieval.indexes.embedded.index import EmbeddedIndex
from fencepost.retrieval.ports import Stored
from local.directory import operator
from tests.integration.isolation.memories import remembered
from tests.integration.isolation.test_jobs import rows
from tests.integration.isolation.town import Somebody, Town
from tests.worlds.api_client import waited_for


@pytest.fixture
def member(town: Town) -> Somebody:
    return town.member(town.user(), town.acme)


def test_a_conversation_is_gone_to_the_last_word(town: Town, member: Somebody) -> None:
    kept = member.begin()
    doomed = member.begin(2)
    member.client.exported(doomed)
    receipt = member.client.delete(f"/v1/conversations/{doomed}")
    assert receipt["verified"] is True
    assert receipt["counts"]["messages"] == 4
    assert receipt["counts"]["pointers"] == 2
    assert traces(town, doomed) == []
    assert member.client.get(f"/v1/erasures/{receipt['receiptId']}") == receipt
    assert len(member.client.messages(kept)) == 2


def test_what_was_remembered_of_it_is_gone_from_the_index(town: Town, member: Somebody) -> None:
    kept, doomed = member.begin(), member.begin(2)
    remembered(town, kept)
    remembered(town, doomed, 4)
    assert len(entries(town, doomed)) >= 4
    receipt = member.client.delete(f"/v1/conversations/{doomed}")
    assert receipt["verified"] is True
    assert min(receipt["counts"]["vectors"], receipt["counts"]["parts"]) >= 4
    assert entries(town, doomed) == []
    assert len(entries(town, kept)) >= 2
    assert member.client.delete("/v1/me")["counts"]["vectors"] >= 2
    assert entries(town, kept) == []


def test_everything_of_an_owner_is_gone_and_nothing_of_their_other_self(town: Town, member: Somebody) -> None:
    user = member.name.partition(" ")[0]
    abroad = town.member(user, town.zeta)
    kept = abroad.begin()
    member.begin()
    member.client.put("/v1/facts", {"facts": [f"My word is {town.marker(member.name)}."]})
    assert member.client.delete("/v1/me")["verified"] is True
    assert town.owners_in(member.everything()) == set()
    stored = str(rows(town))
    assert member.name not in town.owners_in(stored)
    assert len(abroad.client.messages(kept)) == 2


def test_a_turn_that_runs_while_its_conversation_is_erased_brings_nothing_back(town: Town, member: Somebody) -> None:
    conversation_id = member.begin()
    town.stack.provider.order({"delay": 2.0})
    answer = _meanwhile(town, member, conversation_id)
    assert answer.status_code in (404, 409)
    time.sleep(1)
    assert traces(town, conversation_id) == []
    assert member.send("GET", f"/v1/conversations/{conversation_id}").status_code == 404


def entries(town: Town, conversation_id: str) -> list[Stored]:
    """Return what the index holds of a conversation."""
    index = EmbeddedIndex(town.stack.cloud.chosen["IndexPath"])
    return [*index.listed(operator(town.acme), None, 1_000, parent=conversation_id).items]


def traces(town: Town, conversation_id: str) -> list[str]:
    """Return the keys of rows and objects in which a conversation's id stands, but for its tombstone and job."""
    named = [row for row in rows(town) if conversation_id in str(row)]
    stored = town.stack.client("s3").get_paginator("list_objects_v2")
    pages = stored.paginate(Bucket=town.stack.physical("ContentBucket"))
    objects = [entry["Key"] for page in pages for entry in page.get("Contents", ())]
    kinds = [row["sk"]["S"] for row in named if row["sk"]["S"].partition("#")[0] not in ("gone", "job")]
    return kinds + [key for key in objects if conversation_id in key]


def _meanwhile(town: Town, member: Somebody, conversation_id: str):  # type: ignore[no-untyped-def]
    from concurrent.futures import ThreadPoolExecutor

    calls = town.stack.provider.calls()
    said = {"message": "And then?", "conversationId": conversation_id}
    with ThreadPoolExecutor(1) as pool:
        turn = pool.submit(member.send, "POST", "/v1/chat", said)
        waited_for(lambda: town.stack.provider.calls() > calls)
        member.client.delete(f"/v1/conversations/{conversation_id}")
        return turn.result()
