"""What crosses from one organisation to another is a summary that its owner approved, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fencepost.identity.domain.sites import LayerBudgets
from tests.integration.isolation.town import Somebody, Town
from tests.worlds.api_client import waited_for

WINDOW = 2
"""Messages in a prompt: so few that a short conversation is summarised."""
TURNS = 4


@pytest.fixture(scope="module")
def user(town: Town) -> str:
    """Return somebody of both organisations, which let summaries leave and come."""
    for org in (town.acme, town.zeta):
        town.stack.site(org, "docs", budgets=LayerBudgets(messages=WINDOW))
        town.stack.allow_carry(org)
    return town.user()


@pytest.fixture(scope="module")
def at_work(town: Town, user: str) -> Somebody:
    return town.member(user, town.acme)


@pytest.fixture(scope="module")
def at_home(town: Town, user: str) -> Somebody:
    return town.member(user, town.zeta)


@pytest.fixture(scope="module")
def summarised(at_work: Somebody) -> tuple[str, Any]:
    """Return a conversation and its summary: the one that stays, of all that the window leaves behind."""
    conversation_id = at_work.begin(TURNS)
    path = f"/v1/conversations/{conversation_id}/summary"
    whole = waited_for(lambda: at_work.send("GET", path), lambda got: got.json().get("lastSeq") == 2 * TURNS - WINDOW)
    return conversation_id, whole.json()


def test_an_approved_summary_is_all_that_crosses(
    town: Town, at_work: Somebody, at_home: Somebody, summarised: tuple[str, Any]
) -> None:
    conversation_id, summary = summarised
    carry = ("POST", f"/v1/conversations/{conversation_id}/carry", {"organisation": town.zeta})
    assert at_work.send(*carry).json()["code"] == "summary_not_approved"
    at_work.client.post(f"/v1/conversations/{conversation_id}/summary/approve", {"summaryId": summary["id"]})
    carried = at_work.send(*carry).json()
    assert carried["carriedFrom"] == summary["id"]
    town.shared.add(frozenset({at_work.name, at_home.name}))
    town.stack.provider.reset()
    at_home.say(carried["id"])
    prompt = json.dumps(town.stack.provider.body())
    assert all(json.dumps(line["text"])[1:-1] in prompt for line in summary["lines"])
    crossed = town.owners_in(prompt) - {at_home.name}
    assert crossed <= town.owners_in(json.dumps(summary))
    assert at_home.send("GET", f"/v1/conversations/{conversation_id}").status_code == 404
    assert at_work.send("GET", f"/v1/conversations/{carried['id']}").status_code == 404


def test_nobody_else_carries_or_reads_it(town: Town, summarised: tuple[str, Any]) -> None:
    conversation_id, summary = summarised
    other = town.member(town.user(), town.acme)
    for method, rest, body in (
        ("GET", "summary", None),
        ("POST", "summary/approve", {"summaryId": summary["id"]}),
        ("POST", "carry", {"organisation": town.zeta}),
    ):
        assert other.send(method, f"/v1/conversations/{conversation_id}/{rest}", body).status_code == 404


def test_it_crosses_to_no_organisation_where_one_is_not_a_member(
    town: Town, at_work: Somebody, summarised: tuple[str, Any]
) -> None:
    conversation_id, _ = summarised
    for elsewhere in ("nowhere", "demo"):
        answer = at_work.send("POST", f"/v1/conversations/{conversation_id}/carry", {"organisation": elsewhere})
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
