"""Verify members' tokens, signed by an OpenID provider (OpenID Connect Core 1.0; RFC 7519, RFC 8725)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, override

from fencepost.access.ports import KeySetFetcher, MemberTokens, TokenSubject
from fencepost.access.tokens.jwts import check_times, read_header, verified_claims
from fencepost.identity.domain.scope import ORG_ID
from fencepost.kernel.errors import DocumentsUnreachable, ErrorCode, FencepostError
from fencepost.kernel.ports import DocumentFetcher, Validators
from fencepost.observability.domain.events import KeySetEvent
from fencepost.observability.ports import Events

if TYPE_CHECKING:
    from jwt import PyJWK

ALGORITHMS: Final = ("RS256", "ES256")
"""Accepted algorithms. A key is used with its own algorithm only, whatever the token's header names."""
MAX_KEY_SET_BYTES: Final = 256 * 1024
FRESH: Final = timedelta(minutes=10)
"""Age after which keys are fetched again: a key that the provider withdraws is refused within this time."""
STALE: Final = timedelta(hours=24)
"""Greatest age of keys while the provider does not answer."""
LOOK_AGAIN: Final = timedelta(seconds=5)
"""Shortest time between two requests to the provider, also for tokens with unknown keys."""

_REQUIRED: Final = ("iss", "aud", "sub", "exp")
# OpenID Connect Core 1.0, section 2: `sub` has at most 255 ASCII characters.
_SUBJECT: Final = re.compile(r"[\x21-\x7e]{1,255}")


class WebKeySet(KeySetFetcher):
    """Implements `fencepost.access.ports.KeySetFetcher` over HTTP."""

    def __init__(self, url: str, web: DocumentFetcher) -> None:
        self._url = url
        self._web = web

    @override
    def fetch(self) -> Mapping[str, Any]:
        try:
            document = self._web.fetch(self._url, Validators())
            content = json.loads(document.text if document else "")
        except (DocumentsUnreachable, ValueError, RecursionError):
            raise FencepostError(ErrorCode.IDENTITY_UNAVAILABLE) from None
        if not isinstance(content, dict):
            raise FencepostError(ErrorCode.IDENTITY_UNAVAILABLE)
        return content


class ProviderKeys:
    """Cache of the OpenID provider's public keys, by id. Safe in threads: one fetches, the others wait.

    Args:
        fetcher: fetches the keys.
        events: where fetches and their failures are reported.
    """

    def __init__(self, fetcher: KeySetFetcher, events: Events | None = None) -> None:
        self._fetcher = fetcher
        self._events = events
        self._lock = Lock()
        self._keys: Mapping[str, PyJWK] = {}
        self._fetched: datetime | None = None
        self._asked: datetime | None = None

    def key(self, key_id: str, now: datetime) -> PyJWK:
        """Return a key. All keys are fetched for an unknown id, and when they are older than `FRESH`.

        Raises:
            FencepostError: `token_invalid`, the provider has no such key; `identity_unavailable`, the provider does not
                answer.
        """
        if not self._is_known(key_id, now, FRESH):
            self._refresh(key_id, now)
        if self._is_known(key_id, now, STALE):
            return self._keys[key_id]
        answered = self._fetched is not None and self._fetched == self._asked
        raise FencepostError(ErrorCode.TOKEN_INVALID if answered else ErrorCode.IDENTITY_UNAVAILABLE)

    def _is_known(self, key_id: str, now: datetime, age: timedelta) -> bool:
        return key_id in self._keys and self._fetched is not None and now < self._fetched + age

    def _refresh(self, key_id: str, now: datetime) -> None:
        with self._lock:
            waits = self._asked is not None and now < self._asked + LOOK_AGAIN
            # A thread that waited for the lock finds the keys that the one before it fetched.
            if waits or self._is_known(key_id, now, FRESH):
                return
            self._asked = now
            try:
                self._keys = _usable(self._fetcher.fetch())
            except FencepostError:
                self._report(KeySetEvent(result="unavailable"))
                return
            self._fetched = now
            self._report(KeySetEvent(result="fetched" if key_id in self._keys else "unknown_key", keys=len(self._keys)))

    def _report(self, event: KeySetEvent) -> None:
        if self._events is not None:
            self._events.emit(event)


class OidcTokens(MemberTokens):
    """Implements `fencepost.access.ports.MemberTokens` with PyJWT.

    Args:
        issuer: the provider's `iss` claim; empty without a provider, when no token is valid.
        audience: the required `aud` claim.
        keys: keys of the provider.
        org_claim: name of the claim with the member's default organisation.
    """

    def __init__(self, issuer: str, audience: str, keys: ProviderKeys, org_claim: str = "org_id") -> None:
        self._issuer = issuer
        self._audience = audience
        self._keys = keys
        self._org_claim = org_claim

    @override
    def read(self, token: str, now: datetime) -> TokenSubject:
        header = read_header(token)
        # Checked before the key is looked up, so that invalid tokens cause no request to the provider.
        if not (self._issuer and self._audience) or header.algorithm not in ALGORITHMS or not header.key_id:
            raise FencepostError(ErrorCode.TOKEN_INVALID)
        key = self._keys.key(header.key_id, now)
        if key.algorithm_name != header.algorithm:
            raise FencepostError(ErrorCode.TOKEN_INVALID)
        claims = verified_claims(
            token, key, header.algorithm, issuer=self._issuer, audience=self._audience, required=_REQUIRED
        )
        check_times(claims, now)
        return self._subject(claims)

    def _subject(self, claims: Mapping[str, Any]) -> TokenSubject:
        user, org = claims["sub"], claims.get(self._org_claim)
        if not isinstance(user, str) or not _SUBJECT.fullmatch(user):
            raise FencepostError(ErrorCode.TOKEN_INVALID)
        return TokenSubject(user, org if isinstance(org, str) and ORG_ID.fullmatch(org) else None)


def _usable(key_set: Mapping[str, Any]) -> dict[str, PyJWK]:
    """Return the signing keys for the accepted algorithms. Other and malformed keys are ignored."""
    import jwt

    try:
        keys = jwt.PyJWKSet.from_dict(dict(key_set)).keys
    except (jwt.PyJWTError, TypeError, AttributeError):
        raise FencepostError(ErrorCode.IDENTITY_UNAVAILABLE) from None
    return {
        key.key_id: key
        for key in keys
        if isinstance(key.key_id, str) and key.public_key_use in (None, "sig") and key.algorithm_name in ALGORITHMS
    }
