"""Visitors' tokens: signature, expiry, renewal, and rotation of the secret."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.access.tokens.visitor_tokens import LOOK_AGAIN, RENEWABLE, SignedVisitorTokens, key_id
from fencepost.identity.domain.scope import Visitor
from fencepost.kernel.errors import ErrorCode, FencepostError
from tests.fakes.answers import FakeKeys

NOON = datetime(2026, 3, 14, 12, 0, 30, 250_000, tzinfo=UTC)
HOUR = timedelta(hours=1)
VISITOR = Visitor("acme", "docs", "0f" * 16)


def tokens(keys: FakeKeys | None = None) -> SignedVisitorTokens:
    return SignedVisitorTokens(keys or FakeKeys(), HOUR)


def code(reader: SignedVisitorTokens, token: str, now: datetime = NOON, *, renewing: bool = False) -> ErrorCode:
    with pytest.raises(FencepostError) as refused:
        reader.read(token, now, renewing=renewing)
    return refused.value.code


def forged(claims: dict[str, Any] | None = None, *, key: bytes | None = None, **header: object) -> str:
    """Return a token like ours, with other claims, another key or another header."""
    own = FakeKeys().derive("visitor-token")
    issued = jwt.decode(tokens().issue(VISITOR, NOON).token, options={"verify_signature": False})
    payload = {name: value for name, value in {**issued, **(claims or {})}.items() if value is not None}
    return jwt.encode(payload, key or own, headers={"typ": "visitor+jwt", "kid": key_id(own), **header})


def test_a_token_names_its_visitor_until_it_ends() -> None:
    issued = tokens().issue(VISITOR, NOON)
    assert issued.visitor == VISITOR
    assert issued.expires_at == datetime(2026, 3, 14, 13, 0, 30, tzinfo=UTC)
    assert tokens().read(issued.token, issued.expires_at - timedelta(microseconds=1)) == VISITOR
    assert code(tokens(), issued.token, issued.expires_at) is ErrorCode.TOKEN_EXPIRED


def test_an_ended_token_is_renewed_within_bounds() -> None:
    issued = tokens().issue(VISITOR, NOON)
    last = issued.expires_at + RENEWABLE
    assert tokens().read(issued.token, last - timedelta(seconds=1), renewing=True) == VISITOR
    assert code(tokens(), issued.token, last, renewing=True) is ErrorCode.TOKEN_EXPIRED


def test_a_rotation_logs_nobody_out_and_the_one_after_it_does() -> None:
    keys = FakeKeys()
    reader = tokens(keys)
    old = reader.issue(VISITOR, NOON).token
    keys.rotate(b"the second secret")
    new = reader.issue(VISITOR, NOON).token
    assert reader.read(old, NOON) == reader.read(new, NOON) == VISITOR
    assert jwt.get_unverified_header(old)["kid"] != jwt.get_unverified_header(new)["kid"]
    keys.rotate(b"the third secret")
    assert reader.read(new, NOON) == VISITOR
    assert code(reader, old) is ErrorCode.TOKEN_INVALID


def test_the_current_key_costs_no_look_at_the_previous_one() -> None:
    keys = FakeKeys()
    reader = tokens(keys)
    reader.read(reader.issue(VISITOR, NOON).token, NOON)
    assert keys.ring_reads == []


def test_a_token_of_an_instance_that_saw_the_rotation_first_is_accepted() -> None:
    ahead, behind = FakeKeys(), FakeKeys()
    ahead.rotate(b"the second secret")

    class Cached(FakeKeys):
        """Holds the old secret until it is told to read past its cache."""

        def ring(self, purpose: str, *, refresh: bool = False) -> tuple[bytes, ...]:
            return ahead.ring(purpose) if refresh else behind.ring(purpose)

    assert tokens(Cached()).read(tokens(ahead).issue(VISITOR, NOON).token, NOON) == VISITOR


def test_unknown_keys_have_the_secrets_read_anew_at_most_every_few_seconds() -> None:
    keys = FakeKeys()
    reader = tokens(keys)
    for number in range(20):
        assert code(reader, forged(kid=f"unknown{number}")) is ErrorCode.TOKEN_INVALID
    assert keys.ring_reads.count(True) == 1
    assert code(reader, forged(kid="unknown"), NOON + LOOK_AGAIN) is ErrorCode.TOKEN_INVALID
    assert keys.ring_reads.count(True) == 2


def unsigned(payload: dict[str, Any], **header: object) -> str:
    def part(content: dict[str, Any]) -> str:
        return urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()

    return f"{part({'typ': 'visitor+jwt', **header})}.{part(payload)}.c2ln"


CLAIMS = jwt.decode(tokens().issue(VISITOR, NOON).token, options={"verify_signature": False})
KID = key_id(FakeKeys().derive("visitor-token"))


@pytest.mark.parametrize(
    "token",
    [
        forged(key=b"another key of thirty-two bytes.."),
        forged(typ="JWT"),
        forged({"iss": "somebody else"}),
        forged({"aud": "something else"}),
        forged({"exp": None}),
        forged({"exp": "tomorrow"}),
        forged({"exp": float("nan")}),
        forged({"sub": None}),
        forged({"org": None}),
        forged({"iat": (NOON + HOUR).timestamp()}),
        forged({"nbf": (NOON + HOUR).timestamp()}),
        unsigned(CLAIMS, alg="none", kid=KID),
        unsigned(CLAIMS, alg="HS256", kid=KID),
        unsigned(CLAIMS, alg="RS256", kid=KID),
        unsigned(CLAIMS, alg=7, kid=KID),
        unsigned(CLAIMS, kid=KID),
        unsigned(CLAIMS, alg="HS256"),
        unsigned(CLAIMS, alg="HS256", kid=["a", "list"]),
        "a.b.c",
        "",
        "\ud800.a.b",
    ],
)
def test_what_we_did_not_sign_is_invalid(token: str) -> None:
    assert code(tokens(), token) is ErrorCode.TOKEN_INVALID
    assert code(tokens(), token, renewing=True) is ErrorCode.TOKEN_INVALID


def test_deep_nesting_in_a_header_is_merely_invalid() -> None:
    header = urlsafe_b64encode(b"[" * 6_000).rstrip(b"=").decode()
    assert code(tokens(), f"{header}.e30.c2ln") is ErrorCode.TOKEN_INVALID


@given(st.data())
def test_a_token_with_any_character_changed_is_refused(data: st.DataObject) -> None:
    token = tokens().issue(VISITOR, NOON).token
    place = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.sampled_from("ABCxyz019-_.").filter(lambda character: character != token[place]))
    with pytest.raises(FencepostError):
        tokens().read(token[:place] + other + token[place + 1 :], NOON)


def test_only_a_visitors_token_says_that_it_is_one() -> None:
    assert tokens().is_visitors(tokens().issue(VISITOR, NOON).token)
    assert not tokens().is_visitors(forged(typ="JWT"))
    with pytest.raises(FencepostError, match="token_invalid"):
        tokens().is_visitors("no token")
