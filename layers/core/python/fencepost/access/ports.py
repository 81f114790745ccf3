"""Ports of visitor tokens, member tokens and their key sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from fencepost.identity.domain.scope import Visitor


@dataclass(frozen=True, slots=True)
class VisitorToken:
    """A signed token of a visitor, and its expiry."""

    token: str
    visitor: Visitor
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class TokenSubject:
    """The user of a member's token, and the default organisation that it names."""

    user: str
    default_org: str | None


class VisitorTokens(Protocol):
    """Signs and verifies visitors' tokens."""

    def issue(self, visitor: Visitor, now: datetime) -> VisitorToken:
        """Sign a token for a visitor."""
        ...

    def is_visitors(self, token: str) -> bool:
        """Tell whether a token's header says that it is a visitor's. Nothing is verified."""
        ...

    def read(self, token: str, now: datetime, *, renewing: bool = False) -> Visitor:
        """Verify a token and return its visitor. With `renewing`, recently expired tokens are accepted.

        Raises:
            FencepostError: `token_invalid` or `token_expired`.
        """
        ...


class MemberTokens(Protocol):
    """Verifies tokens of the OpenID provider."""

    def read(self, token: str, now: datetime) -> TokenSubject:
        """Verify a token and return its subject.

        Raises:
            FencepostError: `token_invalid`, `token_expired`, or `identity_unavailable` if the keys cannot be read.
        """
        ...


class KeySetFetcher(Protocol):
    """Fetches the OpenID provider's keys."""

    def fetch(self) -> Mapping[str, Any]:
        """Return the JSON Web Key Set (RFC 7517).

        Raises:
            FencepostError: `identity_unavailable`.
        """
        ...
