"""Ports of visitor tokens, member tokens and their key sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from fencepost.identity.domain.scope import Visitor


@dataclass(frozen=True, slots=True)
class VisitorToken:
    """A signed token of a visitor, and when it ends."""

    token: str
    visitor: Visitor
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class TokenSubject:
    """Whom a member's token names: its subject, and the organisation that it chooses by default."""

    user: str
    default_org: str | None


class VisitorTokens(Protocol):
    """Signs visitors' tokens and reads them."""

    def issue(self, visitor: Visitor, now: datetime) -> VisitorToken:
        """Sign a token."""
        ...

    def is_visitors(self, token: str) -> bool:
        """Tell whether a token says of itself that it is a visitor's. Nothing of it is verified."""
        ...

    def read(self, token: str, now: datetime, *, renewing: bool = False) -> Visitor:
        """Verify a token; for a renewal one that has ended will do, within bounds.

        Raises:
            FencepostError: `token_invalid` or `token_expired`.
        """
        ...


class MemberTokens(Protocol):
    """Verifies tokens of the OpenID provider."""

    def read(self, token: str, now: datetime) -> TokenSubject:
        """Verify a token.

        Raises:
            FencepostError: `token_invalid`, `token_expired`, or `identity_unavailable` when the keys cannot be had.
        """
        ...


class KeySetFetcher(Protocol):
    """Reads the OpenID provider's keys over the network."""

    def fetch(self) -> Mapping[str, Any]:
        """Return the JSON Web Key Set (RFC 7517).

        Raises:
            FencepostError: `identity_unavailable`.
        """
        ...
