"""An OpenID provider in memory: keys, tokens, and a key set that can be withheld."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from threading import Lock
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from fencepost.kernel.errors import ErrorCode, FencepostError

ISSUER = "https://id.example"
AUDIENCE = "fencepost"


@cache
def rsa_key(name: str = "first", bits: int = 2_048) -> rsa.RSAPrivateKey:
    """Return a key; the same one for the same name."""
    return rsa.generate_private_key(public_exponent=65_537, key_size=bits)


@cache
def ec_key(name: str = "first") -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def public(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey, kid: str, **more: object) -> dict[str, Any]:
    """Return the public key as a JSON Web Key."""
    if isinstance(key, rsa.RSAPrivateKey):
        return {**jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid, **more}
    return {**jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid, **more}


def claims(now: datetime, **changes: object) -> dict[str, Any]:
    """Return what a good token says, with changes; None leaves a claim out."""
    usual = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "u1",
        "iat": int(now.timestamp()),
        "exp": int((now + timedelta(hours=1)).timestamp()),
    }
    return {name: value for name, value in {**usual, **changes}.items() if value is not None}


@dataclass
class Published:
    """Implements `KeySetFetcher`.

    Attributes:
        keys: what is published.
        available: whether it answers.
        fetches: how often it was asked.
    """

    keys: list[dict[str, Any]] = field(default_factory=list)
    available: bool = True
    fetches: int = 0
    _lock: Lock = field(default_factory=Lock)

    def fetch(self) -> Mapping[str, Any]:
        with self._lock:
            self.fetches += 1
        if not self.available:
            raise FencepostError(ErrorCode.IDENTITY_UNAVAILABLE)
        return {"keys": list(self.keys)}
