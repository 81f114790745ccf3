"""One person in two organisations: what was said in the one stays there, whatever is reopened in the other."""

from __future__ import annotations

import base64

import pytest

from tests.integration.isolation.town import Somebody, Town, only


@pytest.fixture(scope="module")
def user(town: Town) -> str:
    return town.user()


@pytest.fixture(scope="module")
def at_work(town: Town, user: str) -> Somebody:
    return town.member(user, town.acme)


@pytest.fixture(scope="module")
def at_home(town: Town, user: str) -> Somebody:
    return town.member(user, town.zeta)


def test_an_old_id_leads_nowhere_after_the_switch(at_work: Somebody, at_home: Somebody) -> None:
    conversation_id = at_work.begin()
    answers = [
        at_home.send("GET", f"/v1/conversations/{conversation_id}"),
        at_home.send("GET", f"/v1/conversations/{conversation_id}/messages"),
        at_home.send("POST", "/v1/chat", {"message": "Go on, please.", "conversationId": conversation_id}),
    ]
    assert only(answers)[0] == 404


def test_back_again_everything_is_as_it_was(at_work: Somebody, at_home: Somebody, town: Town) -> None:
    conversation_id = at_work.begin()
    at_home.begin()
    at_work.say(conversation_id)
    last = town.stack.provider.body()
    assert town.owners_in(str(last)) == {at_work.name}
    assert len(at_work.client.messages(conversation_id)) == 4


def test_lists_facts_and_searches_are_each_organisations_own(at_work: Somebody, at_home: Somebody, town: Town) -> None:
    for somebody in (at_work, at_home):
        somebody.begin()
        somebody.client.put("/v1/facts", {"facts": [f"My word is {town.marker(somebody.name)}."]})
    assert town.owners_in(at_work.everything()) == {at_work.name}
    assert town.owners_in(at_home.everything()) == {at_home.name}
    assert at_home.client.get("/v1/conversations?title=remember")["items"] != []


def test_facts_of_one_organisation_are_in_no_prompt_of_the_other(
    at_work: Somebody, at_home: Somebody, town: Town
) -> None:
    at_work.client.put("/v1/facts", {"facts": [f"My word is {town.marker(at_work.name)}."]})
    at_home.client.put("/v1/facts", {"facts": []})
    at_home.say()
    assert town.owners_in(str(town.stack.provider.body())) == {at_home.name}


def test_the_same_id_in_two_organisations_is_two_conversations(at_work: Somebody, town: Town) -> None:
    """The same ids on both sides: of the message by the client's choice, of the conversation by writing it there."""
    other = town.member(town.user(), town.zeta)
    mine = at_work.say(messageId="the-same-id")
    theirs = other.say(messageId="the-same-id")
    assert mine["conversationId"] != theirs["conversationId"]
    for somebody, said in ((at_work, mine), (other, theirs)):
        context = somebody.client.get("/v1/messages/the-same-id/context")
        assert context["answerId"] == "the-same-id.1"
        question, _ = somebody.client.messages(said["conversationId"])
        assert town.owners_in(question["content"]) == {somebody.name}


def test_a_conversation_id_of_both_organisations_leads_each_to_its_own(town: Town, user: str) -> None:
    at_work, at_home = town.member(user, town.acme), town.member(user, town.zeta)
    conversation_id = at_work.begin()
    _write_under(town, conversation_id, user)
    town.stack.provider.reset()
    at_home.say(conversation_id)
    assert town.owners_in(str(town.stack.provider.body())) == {at_home.name}
    at_work.say(conversation_id)
    assert town.owners_in(str(town.stack.provider.body())) == {at_work.name}
    at_home.client.delete(f"/v1/conversations/{conversation_id}")
    assert len(at_work.client.messages(conversation_id)) == 4


def test_a_bundle_of_the_other_organisation_is_not_imported(at_work: Somebody, at_home: Somebody) -> None:
    bundle = at_work.client.exported(at_work.begin())
    before = at_home.client.get("/v1/conversations")
    answer = at_home.send("POST", "/v1/imports", {"bundle": base64.b64encode(bundle).decode()})
    assert (answer.status_code, answer.json()["code"]) == (400, "bundle_foreign")
    assert at_home.client.get("/v1/conversations") == before


def _write_under(town: Town, conversation_id: str, user: str) -> None:
    """Copy a conversation's row to the same id in the other organisation, empty: no client can bring this about."""
    table, client = town.stack.physical("ConversationsTable"), town.stack.client("dynamodb")
    [own, other] = [f"org#{org}#own#member%3A{user}" for org in (town.acme, town.zeta)]
    key = {"pk": {"S": own}, "sk": {"S": f"conv#{conversation_id}"}}
    row = client.get_item(TableName=table, Key=key)["Item"]
    client.put_item(TableName=table, Item={**row, "pk": {"S": other}, "next_seq": {"N": "1"}})
