"""Issue and verify visitors' tokens: JSON Web Tokens (RFC 7519) signed by Fencepost.

A token names its key by an id that is derived from the key. Keys are derived from the current signing secret and the
previous one, so tokens survive one rotation of the secret.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Final, override

from fencepost.access.ports import VisitorToken, VisitorTokens
from fencepost.access.tokens.jwts import check_times, read_header, verified_claims
from fencepost.identity.domain.scope import Visitor
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Keys

RENEWABLE: Final = timedelta(days=30)
"""How long an expired token can be renewed: visitors who return within this time keep their conversations."""
LOOK_AGAIN: Final = timedelta(seconds=5)
"""Shortest time between two reads of the secrets past their cache, for tokens with an unknown key."""

_PURPOSE: Final = "visitor-token"
_ALGORITHM: Final = "HS256"
# An explicit type keeps tokens of one kind from passing for another (RFC 8725, section 3.11).
_KIND: Final = "visitor+jwt"
_ISSUER = _AUDIENCE = "fencepost"
_REQUIRED: Final = ("iss", "aud", "sub", "org", "site", "iat", "exp")
_KEY_ID_DIGITS: Final = 16


class SignedVisitorTokens(VisitorTokens):
    """Implements `fencepost.access.ports.VisitorTokens` with PyJWT and HMAC-SHA256. Safe in threads.

    Args:
        keys: derives the signing keys.
        lifetime: validity of a token.
    """

    def __init__(self, keys: Keys, lifetime: timedelta) -> None:
        self._keys = keys
        self._lifetime = lifetime
        self._lock = Lock()
        self._reread_at: datetime | None = None

    @override
    def issue(self, visitor: Visitor, now: datetime) -> VisitorToken:
        """The expiry is a whole second."""
        import jwt

        key, begins = self._keys.derive(_PURPOSE), int(now.timestamp())
        ends = begins + int(self._lifetime.total_seconds())
        claims = {
            "iss": _ISSUER,
            "aud": _AUDIENCE,
            "sub": visitor.visitor_id,
            "org": visitor.org,
            "site": visitor.site,
            "iat": begins,
            "exp": ends,
        }
        token = jwt.encode(claims, key, algorithm=_ALGORITHM, headers={"typ": _KIND, "kid": key_id(key)})
        return VisitorToken(token, visitor, datetime.fromtimestamp(ends, UTC))

    @override
    def is_visitors(self, token: str) -> bool:
        return read_header(token).kind == _KIND

    @override
    def read(self, token: str, now: datetime, *, renewing: bool = False) -> Visitor:
        header = read_header(token)
        if header.kind != _KIND:
            raise FencepostError(ErrorCode.TOKEN_INVALID)
        claims = verified_claims(
            token,
            self._key(header.key_id, now),
            _ALGORITHM,
            issuer=_ISSUER,
            audience=_AUDIENCE,
            required=_REQUIRED,
        )
        check_times(claims, now, grace=RENEWABLE if renewing else timedelta())
        return Visitor(claims["org"], claims["site"], claims["sub"])

    def _key(self, wanted: str, now: datetime) -> bytes:
        keys = (key for ring in self._rings(now) for key in ring if key_id(key) == wanted)
        key = next(keys, None)
        if key is None:
            raise FencepostError(ErrorCode.TOKEN_INVALID)
        return key

    def _rings(self, now: datetime) -> Iterator[tuple[bytes, ...]]:
        """Yield keys in order of cost. Nearly all tokens are signed with the current key, which is cached."""
        yield (self._keys.derive(_PURPOSE),)
        yield self._keys.ring(_PURPOSE)
        # Another instance may have signed with a new secret that this one has not read yet.
        if self._may_reread(now):
            yield self._keys.ring(_PURPOSE, refresh=True)

    def _may_reread(self, now: datetime) -> bool:
        with self._lock:
            if self._reread_at is not None and now < self._reread_at + LOOK_AGAIN:
                return False
            self._reread_at = now
            return True


def key_id(key: bytes) -> str:
    """Return the id of a key: a hash that reveals nothing about the key."""
    return hmac.digest(key, b"key id", "sha256").hex()[:_KEY_ID_DIGITS]
