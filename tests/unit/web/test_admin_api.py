"""`/v1/admin/…`: an organisation and its members, as an admin sets them; to everybody else there is nothing."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from fencepost.identity.domain.scope import OrgRole
from tests.worlds.admin import MEMBERS, ORGANISATION, SITES, ask, world

REQUESTS = [
    ("GET", ORGANISATION, None),
    ("PUT", ORGANISATION, {}),
    ("GET", SITES, None),
    ("GET", f"{SITES}/docs", None),
    ("PUT", f"{SITES}/docs", {}),
    ("GET", MEMBERS, None),
    ("PUT", f"{MEMBERS}/u1", {"role": "admin"}),
]


@pytest.mark.parametrize(("method", "address", "body"), REQUESTS)
@pytest.mark.parametrize("who", ["a member", "a stranger", "a visitor", "an admin elsewhere", "a former admin"])
def test_to_others_there_is_nothing(who: str, method: str, address: str, body: object) -> None:
    api = world()
    api.directory.grant("zeta", "theirs", OrgRole.ADMIN)
    api.directory.grant("acme", "former", OrgRole.ADMIN)
    api.directory.revoke("acme", "former")
    headers = {
        "a member": api.member("u1"),
        "a stranger": api.member("nobody"),
        "a visitor": api.visitor(),
        "an admin elsewhere": api.member("theirs"),
        "a former admin": api.member("former"),
    }[who]
    reply = api.ask(method, address, headers, body)
    absent = ask(api, "GET", f"{SITES}/absent")
    assert (reply.status, reply.json) == (404, absent.json)
    assert not any(read.startswith("put") for read in api.directory.reads)


@pytest.mark.parametrize(("method", "address", "body"), REQUESTS)
def test_without_a_token_it_is_a_401(method: str, address: str, body: object) -> None:
    reply = world().ask(method, address, {}, body)
    assert (reply.status, reply.code) == (401, "token_missing")


@pytest.mark.parametrize("address", [ORGANISATION, f"{SITES}/docs", f"{MEMBERS}/u1"])
@pytest.mark.parametrize(("body", "code"), [("{", "invalid_json"), ("[]", "not_an_object"), ("", "invalid_json")])
def test_what_is_no_json_object_is_told_so(address: str, body: str, code: str) -> None:
    api = world()
    headers = {**api.member("boss"), "content-type": "application/json"}
    reply = api.send("PUT", address, body, headers=headers)
    assert (reply.status, reply.code) == (400, code)


def test_an_organisation_is_read_and_replaced() -> None:
    api = world()
    usual = {"id": "acme", "name": "", "defaultSite": "docs", "allowsCarry": False, "version": 1}
    assert ask(api, "GET", ORGANISATION).json == usual
    body = {"name": "Acme Corporation", "defaultSite": "docs", "allowsCarry": True}
    assert ask(api, "PUT", ORGANISATION, body).json == {"id": "acme", "version": 2, **body}
    assert ask(api, "GET", ORGANISATION).json == {"id": "acme", "version": 2, **body}


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"defaultSite": "absent"}, ["defaultSite"]),
        ({"defaultSite": "S" * 64}, ["defaultSite"]),
        ({"name": "x" * 201, "allowsCarry": 1}, ["name", "allowsCarry"]),
        ({"id": "zeta"}, ["(unknown)"]),
    ],
)
def test_an_organisation_that_cannot_be_is_refused(body: object, fields: list[str]) -> None:
    reply = ask(world(), "PUT", ORGANISATION, body)
    assert (reply.status, reply.code, reply.json["fields"]) == (400, "admin_input_invalid", fields)


def test_members_are_admitted_promoted_and_ended() -> None:
    api = world()
    for role, version in (("member", 1), ("admin", 2), ("none", 3)):
        reply = ask(api, "PUT", f"{MEMBERS}/auth0%7Cu2", {"role": role})
        assert reply.json == {"user": "auth0|u2", "role": role, "version": version}
    assert [(row["user"], row["role"]) for row in ask(api, "GET", MEMBERS).json["items"]] == [
        ("auth0|u2", "none"),
        ("boss", "admin"),
        ("u1", "member"),
    ]


@pytest.mark.parametrize("user", ["a%23b", "a#b/c?d", "100%", "a|b"])
def test_whoever_a_path_names_is_decoded_once(user: str) -> None:
    reply = ask(world(), "PUT", f"{MEMBERS}/{quote(user, safe='')}", {"role": "member"})
    assert (reply.status, reply.json["user"]) == (200, user)


@pytest.mark.parametrize("role", ["member", "none"])
def test_the_last_admin_stays_one(role: str) -> None:
    api = world()
    for _ in range(2):
        reply = ask(api, "PUT", f"{MEMBERS}/boss", {"role": role})
        assert (reply.status, reply.code) == (409, "last_admin")
    former = api.directory.grant("acme", "u2", OrgRole.ADMIN).user
    api.directory.revoke("acme", former)
    assert ask(api, "PUT", f"{MEMBERS}/boss", {"role": role}).code == "last_admin"
    ask(api, "PUT", f"{MEMBERS}/u1", {"role": "admin"})
    assert ask(api, "PUT", f"{MEMBERS}/boss", {"role": role}).status == 200


@pytest.mark.parametrize("address", [ORGANISATION, f"{SITES}/docs"])
def test_settings_replace_the_version_that_was_read_or_nothing(address: str) -> None:
    api = world()
    read = ask(api, "GET", address).json["version"]
    assert ask(api, "PUT", address, {"version": read}).json["version"] == read + 1
    for stale in (read, 0, read + 2):
        reply = ask(api, "PUT", address, {"version": stale})
        assert (reply.status, reply.code) == (409, "settings_changed")
    assert ask(api, "GET", address).json["version"] == read + 1


def test_an_ended_membership_ends_with_the_next_request() -> None:
    api = world()
    assert api.ask("GET", "/v1/conversations", api.member("u1")).status == 200
    ask(api, "PUT", f"{MEMBERS}/u1", {"role": "none"})
    assert api.ask("GET", "/v1/conversations", api.member("u1")).code == "not_found"


@pytest.mark.parametrize("body", [{}, {"role": "owner"}, {"role": None}, {"role": "member", "user": "x"}])
def test_a_role_that_cannot_be_is_refused(body: object) -> None:
    reply = ask(world(), "PUT", f"{MEMBERS}/u1", body)
    assert (reply.status, reply.code) == (400, "admin_input_invalid")
