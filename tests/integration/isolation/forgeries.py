"""Tokens that look good, each with one thing wrong."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from local.issuer import AUDIENCE, ISSUER, Issuer


def forgeries(issuer: Issuer, user: str) -> Mapping[str, str]:
    """Return tokens that name a member who exists, each with one thing wrong."""
    now = int(time.time())
    good = issuer.token(user)
    head, payload, signature = good.split(".")
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": user, "iat": now, "exp": now + 600}
    stranger = generate_private_key(public_exponent=65_537, key_size=2_048)
    known = issuer.public_key()["kid"]
    public = issuer.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return {
        "another payload under a good signature": f"{head}.{_part({**claims, 'sub': 'somebody-else'})}.{signature}",
        "another signature": f"{head}.{payload}.{changed(signature)}",
        "ended": issuer.token(user, exp=now - 3_600, iat=now - 7_200),
        "not yet": issuer.token(user, nbf=now + 3_600),
        "another audience": issuer.token(user, aud="another-service"),
        "no audience": issuer.token(user, aud=[]),
        "another issuer": issuer.token(user, iss="https://issuer.example"),
        "alg none": f"{_part({'alg': 'none', 'typ': 'JWT', 'kid': known})}.{payload}.",
        "alg none with a signature": f"{_part({'alg': 'none', 'typ': 'JWT', 'kid': known})}.{payload}.{signature}",
        "alg nOnE": f"{_part({'alg': 'nOnE', 'kid': known})}.{payload}.{signature}",
        "the public key as a secret": _hs256({"alg": "HS256", "kid": known}, claims, public),
        "an unknown key": jwt.encode(claims, stranger, algorithm="RS256", headers={"kid": "nobodys"}),
        "a known id on an unknown key": jwt.encode(claims, stranger, algorithm="RS256", headers={"kid": known}),
        "no id of a key": jwt.encode(claims, stranger, algorithm="RS256"),
        "a key of its own": jwt.encode(claims, stranger, algorithm="RS256", headers={"jwk": _jwk(stranger)}),
        "an address of its own keys": jwt.encode(
            claims, stranger, algorithm="RS256", headers={"kid": "x", "jku": "http://127.0.0.1:1/keys"}
        ),
        "a visitor's shape": _hs256(
            {"alg": "HS256", "typ": "JWT", "kid": "0"}, {**claims, "iss": "fencepost"}, b"a guessed secret"
        ),
        "no token at all": "nothing",
    }


def changed(text: str) -> str:
    """Change a letter in the middle: the last one may hold bits that mean nothing."""
    middle = len(text) // 2
    return text[:middle] + ("A" if text[middle] != "A" else "B") + text[middle + 1 :]


def _part(content: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


def _hs256(head: object, claims: object, secret: bytes) -> str:
    signed = f"{_part(head)}.{_part(claims)}"
    digest = hmac.new(secret, signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"


def _jwk(key: Any) -> dict[str, Any]:
    return jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
