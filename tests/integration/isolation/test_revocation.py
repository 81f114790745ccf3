"""A permission that ends: between two turns, in the middle of one, and while work waits in the queue."""

from __future__ import annotations

import pytest

from fencepost.identity.domain.scope import OrgRole
from tests.doubles.store_gate import gated, is_claim
from tests.integration.isolation.town import Somebody, Town, only


@pytest.fixture
def member(town: Town) -> Somebody:
    return town.member(town.user(), town.acme)


def user_of(somebody: Somebody) -> str:
    return somebody.name.partition(" ")[0]


def revoke(town: Town, somebody: Somebody) -> None:
    town.stack.grant(town.acme, user_of(somebody), None)


def test_revoked_between_creation_and_the_next_turn(town: Town, member: Somebody) -> None:
    conversation_id = member.begin()
    revoke(town, member)
    town.stack.provider.reset()
    answers = [
        member.send("POST", "/v1/chat", {"message": "And then?", "conversationId": conversation_id}),
        member.send("POST", "/v1/chat", {"message": "And then?"}),
        member.send("GET", f"/v1/conversations/{conversation_id}"),
        member.send("GET", f"/v1/conversations/{conversation_id}/messages"),
        member.send("GET", "/v1/conversations"),
        member.send("GET", "/v1/facts"),
        member.send("POST", f"/v1/conversations/{conversation_id}/exports"),
        member.send("DELETE", f"/v1/conversations/{conversation_id}"),
        member.send("DELETE", "/v1/me"),
        town.stranger(town.user(), town.acme).send("GET", f"/v1/conversations/{conversation_id}"),
    ]
    assert only(answers)[0] == 404
    assert town.stack.provider.calls() == 0


def test_revoked_between_claim_and_load(town: Town, member: Somebody) -> None:
    conversation_id = member.begin()
    with gated(town.stack, "ChatFunction") as gate:
        town.stack.provider.reset()
        gate.after = (is_claim, lambda: revoke(town, member))
        answer = member.send("POST", "/v1/chat", {"message": "And then?", "conversationId": conversation_id})
        assert gate.after is None
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert town.stack.provider.calls() == 0


def test_revoked_and_granted_again_is_another_permission(town: Town, member: Somebody) -> None:
    """The claim rests on a version of the membership: one that was ended and renewed meanwhile is not the same."""
    conversation_id = member.begin()

    def renewed() -> None:
        revoke(town, member)
        town.stack.grant(town.acme, user_of(member))

    with gated(town.stack, "ChatFunction") as gate:
        gate.after = (is_claim, renewed)
        answer = member.send("POST", "/v1/chat", {"message": "And then?", "conversationId": conversation_id})
        assert gate.after is None
    # Authorised anew from what holds at that moment, or refused: never answered under the permission that ended.
    assert answer.status_code in (200, 404)
    messages = member.client.messages(conversation_id)
    assert [message["seq"] for message in messages] == list(range(1, len(messages) + 1))


def test_what_was_said_before_comes_back_with_the_permission(town: Town, member: Somebody) -> None:
    conversation_id = member.begin()
    revoke(town, member)
    assert member.send("GET", f"/v1/conversations/{conversation_id}").status_code == 404
    town.stack.grant(town.acme, user_of(member))
    assert len(member.client.messages(conversation_id)) == 2


def test_an_admin_reads_nobody_elses_conversations(town: Town, member: Somebody) -> None:
    conversation_id = member.begin()
    admin = town.member(town.user(), town.acme)
    town.stack.grant(town.acme, user_of(admin), OrgRole.ADMIN)
    assert admin.send("GET", f"/v1/conversations/{conversation_id}").status_code == 404
    assert admin.client.get("/v1/conversations")["items"] == []
