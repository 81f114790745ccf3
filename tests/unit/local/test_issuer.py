"""The local OpenID provider: its tokens are valid ones, outlive a restart, and are given to this machine alone."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from fencepost.access.ports import TokenSubject
from fencepost.access.tokens.oidc import OidcTokens, ProviderKeys
from fencepost.kernel.errors import FencepostError
from local import parameters, template
from local.issuer import AUDIENCE, ISSUER, LIFETIME_SECONDS, Issuer, create_app


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


def browser(folder: Path, host: str = "127.0.0.1", peer: str = "127.0.0.1") -> TestClient:
    return TestClient(create_app(Issuer.of(folder)), f"http://{host}:8787", client=(peer, 50_000))


def tokens(http: TestClient) -> OidcTokens:
    class Served:
        def fetch(self) -> Mapping[str, Any]:
            key_set: dict[str, Any] = http.get("/jwks.json").json()
            return key_set

    return OidcTokens(ISSUER, AUDIENCE, ProviderKeys(Served()))


def test_a_token_is_verified_with_the_published_key(folder: Path) -> None:
    http, now = browser(folder), datetime.now(UTC)
    reply = http.post("/token", json={"user": "u1"}).json()
    assert reply["expires_in"] == LIFETIME_SECONDS
    assert tokens(http).read(reply["access_token"], now) == TokenSubject("u1", None)
    chosen = http.post("/token", json={"user": "auth0|u1", "org": "acme"}).json()["access_token"]
    assert tokens(http).read(chosen, now) == TokenSubject("auth0|u1", "acme")
    with pytest.raises(FencepostError, match="token_expired"):
        tokens(http).read(chosen, now + timedelta(seconds=LIFETIME_SECONDS + 1))


def test_only_the_public_half_of_the_key_is_published(folder: Path) -> None:
    (key,) = browser(folder).get("/jwks.json").json()["keys"]
    assert set(key) == {"kty", "n", "e", "kid", "alg", "use", "key_ops"} or set(key) == {
        "kty",
        "n",
        "e",
        "kid",
        "alg",
        "use",
    }


def test_tokens_outlive_a_restart_and_the_key_is_its_owners_alone(folder: Path) -> None:
    token = Issuer.of(folder).token("u1")
    assert tokens(browser(folder)).read(token, datetime.now(UTC)) == TokenSubject("u1", None)
    assert stat.S_IMODE((folder / "issuer.pem").stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == ["issuer.pem"]


def test_claims_can_be_chosen_for_tests(folder: Path) -> None:
    token = Issuer.of(folder).token("u1", aud="somebody else")
    with pytest.raises(FencepostError, match="token_invalid"):
        tokens(browser(folder)).read(token, datetime.now(UTC))


@pytest.mark.parametrize(("host", "peer"), [("evil.example", "127.0.0.1"), ("127.0.0.1", "203.0.113.7")])
def test_nobody_else_gets_a_token(folder: Path, host: str, peer: str) -> None:
    http = browser(folder, host, peer)
    assert http.post("/token", json={"user": "u1"}).status_code == 404
    assert http.get("/jwks.json").status_code == 200


def test_a_page_of_another_origin_cannot_ask_unasked(folder: Path) -> None:
    http = browser(folder)
    assert http.post("/token", content='{"user": "u1"}', headers={"content-type": "text/plain"}).status_code == 415
    assert http.get("/token").status_code == 405


@pytest.mark.parametrize(
    "body", [{}, {"user": ""}, {"user": "a b"}, {"user": "u1", "org": "No"}, {"user": "u", "x": 1}]
)
def test_a_user_that_cannot_be_is_refused(folder: Path, body: object) -> None:
    assert browser(folder).post("/token", json=body).status_code == 400


def test_the_local_issuer_stands_in_where_none_is_named() -> None:
    made = parameters.local({}, "http://127.0.0.1:8787", Path("state"))
    assert (made["OidcIssuer"], made["OidcAudience"]) == (ISSUER, AUDIENCE)
    assert made["OidcJwksUrl"] == "http://127.0.0.1:8787/_local/issuer/jwks.json"
    named = {
        "FENCEPOST_OIDC_ISSUER": "https://id.example",
        "FENCEPOST_OIDC_AUDIENCE": "us",
        "FENCEPOST_OIDC_JWKS_URL": "https://id.example/jwks",
    }
    made = parameters.local(named, "http://127.0.0.1:8787", Path("state"))
    assert {made[template.variables()[name]] for name in named} == set(named.values())
