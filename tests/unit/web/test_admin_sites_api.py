"""`/v1/admin/sites…`: a site's settings, taken whole or refused."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost.identity.domain.sites import FactState, Organisation
from fencepost.memory.domain.facts import MAX_PINNED, MAX_SITE_SUPERSEDED
from tests.worlds.admin import ORGANISATION, SITES, ask, world

USUAL_SITE = {
    "id": "shop",
    "key": "acme-shop",
    "origins": [],
    "productPrompt": "",
    "model": "",
    "retention": {"days": 0, "rows": 1000},
    "documentsUrl": "",
    "facts": "off",
    "pinnedFacts": [],
    "active": True,
    "version": 1,
}


def test_a_site_is_made_read_changed_and_listed() -> None:
    api = world()
    assert ask(api, "PUT", f"{SITES}/shop", {}).json == USUAL_SITE
    settings: dict[str, Any] = {
        "key": "pk_shop",
        "origins": ["https://shop.example", "HTTPS://Shop.Example:443", "http://localhost:8080"],
        "productPrompt": "Acme sells anvils.",
        "model": "claude-haiku-4-5",
        "budgets": {"historyTokens": 8000, "messages": 10},
        "caps": {"calls": 100, "spendUsd": 0.25},
        "retention": {"days": 30, "rows": 500},
        "documentsUrl": "https://shop.example/docs",
        "facts": "propose",
        "pinnedFacts": ["Acme is closed on Sundays.", "Refunds take a week."],
        "active": False,
    }
    changed = ask(api, "PUT", f"{SITES}/shop", settings)
    assert changed.json == settings | {
        "id": "shop",
        "version": 2,
        "origins": ["https://shop.example", "http://localhost:8080"],
        "budgets": {
            "factsTokens": 700,
            "summaryTokens": 8000,
            "historyTokens": 8000,
            "documentsTokens": 60000,
            "memoryTokens": 4000,
            "maxOutputTokens": 1024,
            "messages": 10,
        },
    }
    assert ask(api, "GET", f"{SITES}/shop").json == changed.json
    assert [site["id"] for site in ask(api, "GET", SITES).json["items"]] == ["docs", "shop"]


def test_a_site_keeps_its_key_unless_another_is_named() -> None:
    api = world()
    ask(api, "PUT", f"{SITES}/shop", {"key": "pk_shop"})
    assert ask(api, "PUT", f"{SITES}/shop", {"facts": "trust"}).json["key"] == "pk_shop"


def test_what_is_sent_back_as_it_came_changes_nothing_but_the_version() -> None:
    api = world()
    body = {"budgets": {"messages": 3}, "caps": {"calls": 1, "spendUsd": 0.000001}}
    first = ask(api, "PUT", f"{SITES}/shop", body).json
    again = {name: value for name, value in first.items() if name not in ("id", "version")}
    assert ask(api, "PUT", f"{SITES}/shop", again).json == first | {"version": 2}


def test_facts_of_a_site_are_one_line_normalised_and_once() -> None:
    sent = {"pinnedFacts": [" Closed\n\u200bｏｎ Sundays. ", "Closed on Sundays."]}
    assert ask(world(), "PUT", f"{SITES}/shop", sent).json["pinnedFacts"] == ["Closed on Sundays."]


def test_facts_beyond_the_sites_budget_are_refused_and_change_nothing() -> None:
    api = world()
    before = ask(api, "PUT", f"{SITES}/shop", {"pinnedFacts": ["Closed on Sundays."]}).json
    many = [f"Fact number {number}." for number in range(MAX_PINNED)]
    reply = ask(api, "PUT", f"{SITES}/shop", {"pinnedFacts": many})
    assert (reply.status, reply.code) == (413, "facts_too_large")
    assert ask(api, "GET", f"{SITES}/shop").json == before
    roomy = {"pinnedFacts": many, "budgets": {"factsTokens": 16_000}}
    assert ask(api, "PUT", f"{SITES}/shop", roomy).json["pinnedFacts"] == many


def test_a_site_keeps_no_more_than_so_many_of_its_old_facts() -> None:
    api = world()
    for number in range(MAX_SITE_SUPERSEDED + 3):
        ask(api, "PUT", f"{SITES}/shop", {"pinnedFacts": [f"Fact number {number}."]})
    own = api.directory.sites["acme", "shop"].own_facts
    assert [fact.text for fact in own] == [f"Fact number {number}." for number in range(2, MAX_SITE_SUPERSEDED + 3)]
    assert [fact.state for fact in own[-2:]] == [FactState.SUPERSEDED, FactState.PINNED]


def test_a_key_of_another_site_is_taken() -> None:
    reply = ask(world(), "PUT", f"{SITES}/shop", {"key": "zeta-docs"})
    assert (reply.status, reply.code) == (409, "site_key_taken")


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"key": "has a space"}, ["key"]),
        ({"key": "k" * 129}, ["key"]),
        ({"pinnedFacts": ["Fine.", "\u200b"]}, ["pinnedFacts.1"]),
        ({"pinnedFacts": ["x" * 501]}, ["pinnedFacts.0"]),
        ({"pinnedFacts": [f"Fact {number}." for number in range(33)]}, ["pinnedFacts"]),
        ({"key": 7}, ["key"]),
        ({"origins": ["https://shop.example", "null", "*"]}, ["origins.1", "origins.2"]),
        ({"origins": ["https://shop.example/path"]}, ["origins.0"]),
        ({"origins": "https://shop.example"}, ["origins"]),
        ({"origins": [f"https://s{number}.example" for number in range(51)]}, ["origins"]),
        ({"productPrompt": "x" * 8001}, ["productPrompt"]),
        ({"version": -1}, ["version"]),
        ({"version": "1"}, ["version"]),
        ({"model": "gpt"}, ["model"]),
        ({"budgets": {"documentsTokens": 999, "messages": 201}}, ["budgets.documentsTokens", "budgets.messages"]),
        ({"budgets": {"memoryTokens": 16_001}}, ["budgets.memoryTokens"]),
        ({"budgets": {"messages": 1.5}}, ["budgets.messages"]),
        ({"budgets": {"messages": True}}, ["budgets.messages"]),
        ({"budgets": {"messages": "7"}}, ["budgets.messages"]),
        ({"caps": {"calls": -1, "spendUsd": 1}}, ["caps.calls"]),
        ({"caps": {"calls": 1}}, ["caps.spendUsd"]),
        ({"caps": {"calls": 1, "spendUsd": 0.0000001}}, ["caps.spendUsd"]),
        ({"caps": {"calls": 1e300, "spendUsd": 1e300}}, ["caps.calls", "caps.spendUsd"]),
        ({"retention": {"days": -1, "rows": 1}}, ["retention.days", "retention.rows"]),
        ({"documentsUrl": "ftp://shop.example"}, ["documentsUrl"]),
        ({"documentsUrl": "https://user@shop.example"}, ["documentsUrl"]),
        ({"facts": "maybe"}, ["facts"]),
        ({"active": "yes"}, ["active"]),
        ({"secret word": 1}, ["(unknown)"]),
        ({"budgets": {"secret word": 1}}, ["budgets.(unknown)"]),
        ({"product_prompt": "x"}, ["(unknown)"]),
    ],
)
def test_a_site_that_cannot_be_is_refused_by_its_fields_names(body: object, fields: list[str]) -> None:
    api = world()
    reply = ask(api, "PUT", f"{SITES}/docs", body)
    assert (reply.status, reply.code, reply.json["fields"]) == (400, "admin_input_invalid", fields)
    assert "secret word" not in reply.text
    assert ask(api, "GET", f"{SITES}/docs").json["version"] == 1


@pytest.mark.parametrize("site", ["Shop", "-shop", "s" * 64, "a.b", "%F0%9F%A6%8A", "a%20b"])
def test_what_cannot_be_a_sites_id_makes_no_site(site: str) -> None:
    api = world()
    assert ask(api, "PUT", f"{SITES}/{site}", {}).status in (400, 404)
    assert [row["id"] for row in ask(api, "GET", SITES).json["items"]] == ["docs"]


def test_the_first_site_becomes_the_default_and_later_ones_do_not() -> None:
    api = world()
    api.directory.add_organisation(Organisation(id="acme", allows_carry=True, version=4))
    ask(api, "PUT", f"{SITES}/shop", {})
    ask(api, "PUT", f"{SITES}/blog", {})
    stored = ask(api, "GET", ORGANISATION).json
    assert (stored["defaultSite"], stored["allowsCarry"], stored["version"]) == ("shop", True, 5)


def test_a_site_that_is_to_be_new_is_new() -> None:
    api = world()
    assert ask(api, "PUT", f"{SITES}/shop", {"version": 1}).code == "settings_changed"
    assert ask(api, "PUT", f"{SITES}/shop", {"version": 0}).json["version"] == 1


def test_a_product_prompt_is_normalised() -> None:
    sent = {"productPrompt": "  Acme sells\r\nan\u200bvils.\x07 "}
    assert ask(world(), "PUT", f"{SITES}/shop", sent).json["productPrompt"] == "Acme sells\nanvils."
