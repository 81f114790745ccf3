"""Pseudonyms of owners, conversations and other ids in events: keyed hashes.

Two log lines about the same conversation have the same pseudonym; without the key, it does not lead back to the id. A
pseudonym is bound to its organisation: a person in two organisations has two.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Literal

from fencepost.identity.domain.scope import Scope

PURPOSE = "pseudonym"
"""Purpose that the key is derived for."""

type PseudonymKind = Literal["org", "owner", "conv", "msg", "fact", "summary", "file", "job", "diag"]

_HEX_DIGITS = 16  # 64 bits: a collision among a million names has a probability of 1 in 40 million.
_PRIVATE: tuple[PseudonymKind, ...] = ("msg", "fact", "summary", "file")


@dataclass(frozen=True, slots=True)
class Pseudonyms:
    """Makes pseudonyms with HMAC-SHA-256 (RFC 2104).

    Attributes:
        key: 32 bytes, derived for this purpose only. Another key changes all pseudonyms.
    """

    key: bytes

    def of(self, kind: PseudonymKind, org: str, name: str = "") -> str:
        """Return the pseudonym of an id in an organisation, e.g. `conv_6f0d3c1e22b1a9d4`."""
        parts = (kind, org, name)
        # Length prefixes keep different parts from joining to the same message.
        message = b"".join(len(part.encode()).to_bytes(4) + part.encode() for part in parts)
        return f"{kind}_{hmac.digest(self.key, message, 'sha256').hex()[:_HEX_DIGITS]}"

    def organisation(self, org: str) -> str:
        """Return an organisation's pseudonym."""
        return self.of("org", org)

    def owner(self, scope: Scope) -> str:
        """Return the pseudonym of a scope's owner."""
        return self.of("owner", scope.org, scope.owner)

    def source(self, scope: Scope, source_id: str) -> str:
        """Return the loggable id of a source: a public section's id as it is, a pseudonym for others."""
        kind, separator, name = source_id.partition(":")
        known = _private_kind(kind) if separator else None
        return self.of(known, scope.org, f"{scope.owner}\0{name}") if known else source_id


def is_public(source_id: str) -> bool:
    """Tell whether a source is a section of public documents, rather than user content."""
    kind, separator, _ = source_id.partition(":")
    return not separator or _private_kind(kind) is None


def _private_kind(kind: str) -> PseudonymKind | None:
    return next((private for private in _PRIVATE if private == kind), None)
