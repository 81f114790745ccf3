"""Tokens that are forged, ended, for somebody else, unsigned or signed by a key that nobody knows open nothing."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

from local.issuer import Issuer
from tests.integration.isolation.forgeries import changed, forgeries
from tests.integration.isolation.town import Somebody, Town, only

ROUTES = [
    ("GET", "/v1/conversations", None),
    ("GET", "/v1/facts", None),
    ("POST", "/v1/chat", {"message": "What did we say?"}),
    ("POST", "/v1/exports", None),
    ("DELETE", "/v1/me", None),
]


@pytest.fixture(scope="module")
def victim(town: Town) -> Somebody:
    somebody = town.member(town.user(), town.acme)
    somebody.begin()
    return somebody


@pytest.fixture(scope="module")
def issuer(town: Town) -> Issuer:
    return Issuer.of(town.stack.cloud.folder.path)


NAMES = [*forgeries(Issuer(generate_private_key(public_exponent=65_537, key_size=2_048)), "nobody")]


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_token_opens_nothing(town: Town, victim: Somebody, issuer: Issuer, name: str) -> None:
    user = victim.name.partition(" ")[0]
    forger = Somebody(name, town.stack.bearer(forgeries(issuer, user)[name], town.acme), town)
    town.people.append(forger)
    answers = [forger.send(method, path, body) for method, path, body in ROUTES]
    status, body, headers = only(answers)
    assert status == 401
    assert isinstance(body, dict)
    assert body["code"] in ("token_invalid", "token_expired")
    assert headers["www-authenticate"] == "Bearer"
    assert town.stack.provider.calls() == 0


def test_the_good_token_of_the_same_user_is_good(victim: Somebody, issuer: Issuer, town: Town) -> None:
    good = town.stack.bearer(issuer.token(victim.name.partition(" ")[0]), town.acme)
    assert good.get("/v1/conversations")["items"]


def test_without_a_token_it_is_missing(town: Town) -> None:
    for method, path, body in ROUTES:
        answer = town.stack.http.request(method, path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (401, "token_missing")


@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_visitors_token_with_one_letter_changed_is_nobodys(town: Town, part: int) -> None:
    visitor = town.visitor(town.acme)
    parts = visitor.client.headers["Authorization"].removeprefix("Bearer ").split(".")
    parts[part] = changed(parts[part])
    answer = town.stack.bearer(".".join(parts)).send("GET", "/v1/conversations")
    assert answer.status_code == 401


def test_a_visitors_token_opens_no_other_organisation(town: Town) -> None:
    visitor = town.visitor(town.acme)
    visitor.begin()
    token = visitor.client.headers["Authorization"].removeprefix("Bearer ")
    assert town.stack.bearer(token, town.zeta).send("GET", "/v1/conversations").status_code == 404


@pytest.mark.parametrize("org", ["zeta-of-nobody", "UPPER", "../acme", "acme#", "%2e"])
def test_an_organisation_that_one_is_no_member_of_is_absent(victim: Somebody, town: Town, org: str) -> None:
    headers = {**victim.client.headers, "X-Org-Id": org}
    answer = town.stack.http.get("/v1/conversations", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
