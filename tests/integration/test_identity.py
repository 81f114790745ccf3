"""Visitors, members and admins on the deployed stack, with the tools that a developer sets them up with."""

from __future__ import annotations

import os
import subprocess

import pytest

from local.issuer import Issuer
from local.paths import ROOT
from tests.doubles.stack import Stack

LIST = "/v1/conversations"


def make(stack: Stack, *arguments: str) -> str:
    """Run a target against the running stack, and return exactly what it prints."""
    environment = {**os.environ, "FENCEPOST_STATE_DIR": str(stack.cloud.folder.path)}
    command = ["make", "-s", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout


def bearer(token: str, **headers: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}", **headers}


def test_a_fresh_stack_has_the_demos_site_for_the_front_doors_pages(stack: Stack) -> None:
    page = {"origin": stack.cloud.url}
    reply = stack.http.post("/v1/visitors", json={"site": "demo"}, headers=page)
    assert reply.status_code == 200
    assert stack.http.get(LIST, headers=bearer(reply.json()["token"], **page)).json() == {"items": []}


def test_a_rotated_signing_secret_logs_no_visitor_out(stack: Stack) -> None:
    token = stack.http.post("/v1/visitors", json={"site": "demo"}).json()["token"]
    manager = stack.cloud.emulator.client("secretsmanager")
    outputs = stack.cloud.emulator.client("cloudformation").describe_stacks(StackName="fencepost")["Stacks"][0][
        "Outputs"
    ]
    (secret,) = (row["OutputValue"] for row in outputs if row["OutputKey"] == "SigningSecretArn")
    manager.put_secret_value(SecretId=secret, SecretString="a second secret of more than thirty-two characters")
    assert stack.http.get(LIST, headers=bearer(token)).status_code == 200


def test_a_member_is_made_by_one_command_and_ended_by_another(stack: Stack) -> None:
    make(stack, "member", "ORG=made-by-make", "USER=u1", "ROLE=member")
    token = make(stack, "token", "USER=u1").removesuffix("\n")
    assert token.count(".") == 2
    assert not set(token) & set(" \n")
    chosen = bearer(token, **{"x-org-id": "made-by-make"})
    assert stack.http.get(LIST, headers=chosen).status_code == 200
    assert stack.http.get(LIST, headers=bearer(make(stack, "token", "USER=u1", "ORG=made-by-make").strip())).is_success
    assert stack.http.get("/v1/admin/members", headers=chosen).status_code == 404
    make(stack, "member", "ORG=made-by-make", "USER=u1", "ROLE=none")
    assert stack.http.get(LIST, headers=chosen).status_code == 404


def test_a_site_is_made_by_one_command_and_administered_over_the_api(stack: Stack) -> None:
    key = make(stack, "site", "ORG=admins", "SITE=docs", "ORIGINS=https://docs.example").removesuffix("\n")
    make(stack, "member", "ORG=admins", "USER=boss", "ROLE=admin")
    admin = bearer(make(stack, "token", "USER=boss", "ORG=admins").strip())
    (site,) = stack.http.get("/v1/admin/sites", headers=admin).json()["items"]
    assert (site["key"], site["origins"]) == (key, ["https://docs.example"])
    for origin, status in (("https://docs.example", 200), ("https://evil.example", 403)):
        reply = stack.http.post("/v1/visitors", json={"site": key}, headers={"origin": origin})
        assert reply.status_code == status


@pytest.mark.parametrize(
    ("claims", "code"),
    [({"exp": 1}, "token_expired"), ({"aud": "another"}, "token_invalid"), ({"iss": "another"}, "token_invalid")],
)
def test_a_token_for_another_time_or_place_is_refused(stack: Stack, claims: dict[str, object], code: str) -> None:
    token = Issuer.of(stack.cloud.folder.path).token("u1", "acme", **claims)
    reply = stack.http.get(LIST, headers=bearer(token))
    assert (reply.status_code, reply.json()["code"]) == (401, code)


def test_a_token_of_another_issuer_is_refused(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> None:
    token = Issuer.of(tmp_path_factory.mktemp("another")).token("u1", "acme")
    reply = stack.http.get(LIST, headers=bearer(token))
    assert (reply.status_code, reply.json()["code"]) == (401, "token_invalid")
