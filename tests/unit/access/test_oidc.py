"""Members' tokens: only those that the OpenID provider signed for the audience are accepted."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier, Event
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from fencepost.access.ports import TokenSubject
from fencepost.access.tokens.oidc import FRESH, LOOK_AGAIN, STALE, OidcTokens, ProviderKeys, WebKeySet
from fencepost.kernel.errors import DocumentsUnreachable, ErrorCode, FencepostError
from fencepost.kernel.ports import RawDocument, Validators
from tests.doubles.openid import AUDIENCE, ISSUER, Published, claims, ec_key, public, rsa_key

NOON = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


def published() -> Published:
    return Published([public(rsa_key(), "r1", alg="RS256", use="sig"), public(ec_key(), "e1")])


def tokens(provider: Published | None = None) -> OidcTokens:
    return OidcTokens(ISSUER, AUDIENCE, ProviderKeys(provider or published()))


def signed(kid: str = "r1", key: Any = None, algorithm: str = "RS256", **changes: object) -> str:
    return jwt.encode(claims(NOON, **changes), key or rsa_key(), algorithm=algorithm, headers={"kid": kid})


def code(reader: OidcTokens, token: str, now: datetime = NOON) -> ErrorCode:
    with pytest.raises(FencepostError) as refused:
        reader.read(token, now)
    return refused.value.code


def test_a_token_names_its_user_and_a_default_organisation() -> None:
    assert tokens().read(signed(), NOON) == TokenSubject("u1", None)
    assert tokens().read(signed(org_id="acme"), NOON) == TokenSubject("u1", "acme")
    assert tokens().read(signed("e1", ec_key(), "ES256"), NOON) == TokenSubject("u1", None)
    assert tokens().read(signed(aud=["another", AUDIENCE]), NOON) == TokenSubject("u1", None)


def test_the_claim_of_the_default_organisation_can_be_chosen() -> None:
    reader = OidcTokens(ISSUER, AUDIENCE, ProviderKeys(published()), "tenant")
    assert reader.read(signed(tenant="acme", org_id="other"), NOON) == TokenSubject("u1", "acme")


@pytest.mark.parametrize("org", [7, "", "Not An Id", ["acme"], "a" * 64])
def test_a_default_organisation_that_cannot_be_one_is_none(org: object) -> None:
    assert tokens().read(signed(org_id=org), NOON) == TokenSubject("u1", None)


def test_a_token_ends_on_the_second() -> None:
    token = signed(exp=NOON.timestamp())
    assert tokens().read(token, NOON - timedelta(microseconds=1)) == TokenSubject("u1", None)
    assert code(tokens(), token, NOON) is ErrorCode.TOKEN_EXPIRED


def unsigned(**header: object) -> str:
    def part(content: dict[str, Any]) -> str:
        return urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()

    return f"{part(header)}.{part(claims(NOON))}.c2ln"


def confused() -> str:
    """Return a token whose HMAC key is the public key's text: a verifier that believes the header would accept it."""
    pem = rsa_key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    signing_input = unsigned(alg="HS256", kid="r1").rpartition(".")[0]
    signature = urlsafe_b64encode(hmac.digest(pem, signing_input.encode(), "sha256")).rstrip(b"=").decode()
    return f"{signing_input}.{signature}"


@pytest.mark.parametrize(
    "token",
    [
        signed(key=rsa_key("somebody else's")),
        signed("e1", ec_key("somebody else's"), "ES256"),
        signed("unknown"),
        signed("e1"),
        signed("r1", ec_key(), "ES256"),
        signed(algorithm="RS512"),
        signed(algorithm="PS256"),
        confused(),
        jwt.encode(claims(NOON), rsa_key(), algorithm="RS256"),
        jwt.encode(claims(NOON), "", algorithm="none", headers={"kid": "r1"}),
        signed(iss="https://id.example/"),
        signed(iss=None),
        signed(aud="another"),
        signed(aud=None),
        signed(exp=None),
        signed(exp="tomorrow"),
        signed(exp=True),
        signed(nbf=(NOON + timedelta(minutes=2)).timestamp()),
        signed(iat=(NOON + timedelta(minutes=2)).timestamp()),
        signed(sub=None),
        signed(sub=""),
        signed(sub="u" * 256),
        signed(sub="has a space"),
        signed(sub="jürgen"),
        unsigned(alg="none"),
        unsigned(alg="none", kid="r1"),
        unsigned(alg="RS256", kid="r1"),
        unsigned(alg="RS256", kid="r1", crit=["exp"], exp=1),
        unsigned(kid="r1"),
        "a.b.c",
    ],
)
def test_what_the_provider_did_not_sign_for_us_is_invalid(token: str) -> None:
    assert code(tokens(), token) is ErrorCode.TOKEN_INVALID


def test_a_forged_token_is_invalid_though_it_has_ended_as_well() -> None:
    assert code(tokens(), signed(key=rsa_key("somebody else's"), exp=1)) is ErrorCode.TOKEN_INVALID
    assert code(tokens(), signed(exp=1)) is ErrorCode.TOKEN_EXPIRED


def test_a_key_that_is_too_short_signs_nothing() -> None:
    short = rsa_key("short", 1_024)
    provider = Published([public(short, "short", alg="RS256")])
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        token = signed("short", short)
    assert code(tokens(provider), token) is ErrorCode.TOKEN_INVALID


def test_without_a_provider_no_token_is_valid_and_nobody_is_asked() -> None:
    provider = published()
    for reader in (OidcTokens("", AUDIENCE, ProviderKeys(provider)), OidcTokens(ISSUER, "", ProviderKeys(provider))):
        assert code(reader, signed()) is ErrorCode.TOKEN_INVALID
    assert provider.fetches == 0


@pytest.mark.parametrize("token", [unsigned(alg="none", kid="r1"), unsigned(alg="HS256", kid="r1"), "a.b.c"])
def test_what_cannot_be_valid_asks_the_provider_nothing(token: str) -> None:
    provider = published()
    assert code(tokens(provider), token) is ErrorCode.TOKEN_INVALID
    assert provider.fetches == 0


def test_keys_of_other_kinds_and_uses_are_passed_over() -> None:
    others: list[Any] = [
        public(rsa_key(), "encrypts", use="enc"),
        public(rsa_key(), "another algorithm", alg="PS256"),
        {"kty": "oct", "kid": "symmetric", "k": "c2VjcmV0"},
        {"kty": "new", "kid": "new"},
        {"kid": 7, **{name: value for name, value in public(rsa_key(), "r1").items() if name != "kid"}},
        "no key",
    ]
    reader = tokens(Published([*others, public(rsa_key(), "r1")]))
    assert reader.read(signed(), NOON) == TokenSubject("u1", None)
    for kid in ("encrypts", "another algorithm", "symmetric", "new"):
        assert code(reader, signed(kid)) is ErrorCode.TOKEN_INVALID


def test_keys_are_kept_and_a_new_one_is_found_at_once() -> None:
    provider = published()
    reader = tokens(provider)
    for _ in range(5):
        reader.read(signed(), NOON)
    assert provider.fetches == 1
    provider.keys = [public(rsa_key("second"), "r2")]
    later = NOON + LOOK_AGAIN
    assert reader.read(signed("r2", rsa_key("second")), later) == TokenSubject("u1", None)
    assert code(reader, signed(), later) is ErrorCode.TOKEN_INVALID


def test_unknown_keys_have_the_provider_asked_at_most_every_few_seconds() -> None:
    provider = published()
    reader = tokens(provider)
    for number in range(50):
        assert code(reader, signed(f"unknown{number}")) is ErrorCode.TOKEN_INVALID
    assert provider.fetches == 1
    assert code(reader, signed("unknown"), NOON + LOOK_AGAIN) is ErrorCode.TOKEN_INVALID
    assert provider.fetches == 2


def test_a_withdrawn_key_is_refused_once_the_keys_are_old() -> None:
    provider = published()
    reader = tokens(provider)
    reader.read(signed(exp=(NOON + timedelta(days=1)).timestamp()), NOON)
    provider.keys = [public(ec_key(), "e1")]
    assert code(reader, signed(), NOON + FRESH) is ErrorCode.TOKEN_INVALID


def test_known_keys_serve_while_the_provider_is_away_for_a_day() -> None:
    provider = published()
    reader, token = tokens(provider), signed(exp=(NOON + timedelta(days=2)).timestamp())
    reader.read(token, NOON)
    provider.available = False
    assert reader.read(token, NOON + STALE - timedelta(seconds=1)) == TokenSubject("u1", None)
    assert code(reader, token, NOON + STALE) is ErrorCode.IDENTITY_UNAVAILABLE


def test_an_unknown_key_is_not_called_invalid_while_nobody_can_know() -> None:
    provider = published()
    provider.available = False
    reader = tokens(provider)
    assert code(reader, signed()) is ErrorCode.IDENTITY_UNAVAILABLE
    assert code(reader, signed()) is ErrorCode.IDENTITY_UNAVAILABLE
    assert provider.fetches == 1
    provider.available = True
    assert reader.read(signed(), NOON + LOOK_AGAIN) == TokenSubject("u1", None)


def test_of_many_threads_one_asks_the_provider_and_all_are_answered() -> None:
    provider, threads = published(), 16
    reader, start = tokens(provider), Barrier(threads)

    def read(_: int) -> TokenSubject:
        start.wait()
        return reader.read(signed(), NOON)

    with ThreadPoolExecutor(threads) as pool:
        assert list(pool.map(read, range(threads))) == [TokenSubject("u1", None)] * threads
    assert provider.fetches == 1


def test_nobody_with_a_known_key_waits_for_somebody_with_an_unknown_one() -> None:
    asked, may_answer = Event(), Event()

    class Slow(Published):
        def fetch(self) -> Any:
            if self.fetches:
                asked.set()
                assert may_answer.wait(20)
            return super().fetch()

    reader = tokens(Slow(published().keys))
    reader.read(signed(), NOON)
    with ThreadPoolExecutor(1) as pool:
        unknown = pool.submit(code, reader, signed("unknown"), NOON + LOOK_AGAIN)
        assert asked.wait(20)
        assert reader.read(signed(), NOON + LOOK_AGAIN) == TokenSubject("u1", None)
        may_answer.set()
        assert unknown.result() is ErrorCode.TOKEN_INVALID


class Web:
    """A `DocumentFetcher` of one file."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    def fetch(self, url: str, known: Validators) -> RawDocument | None:
        if self.text is None:
            raise DocumentsUnreachable("dns")
        return RawDocument(self.text, Validators())


def test_a_key_set_comes_over_the_web() -> None:
    assert WebKeySet("https://id.example/jwks", Web(json.dumps({"keys": []}))).fetch() == {"keys": []}


@pytest.mark.parametrize("text", [None, "", "<html>", "[]", "7", "[" * 100_000])
def test_what_is_no_key_set_leaves_tokens_unverified(text: str | None) -> None:
    with pytest.raises(FencepostError, match="identity_unavailable"):
        WebKeySet("https://id.example/jwks", Web(text)).fetch()


@pytest.mark.parametrize("keys", [None, 7, [], {"kid": "r1"}, [{}]])
def test_a_key_set_without_keys_leaves_tokens_unverified(keys: Any) -> None:
    class Odd(Published):
        def fetch(self) -> Any:
            return {"keys": keys}

    assert code(tokens(Odd()), signed()) is ErrorCode.IDENTITY_UNAVAILABLE
