"""Names under which events speak of people and their conversations: a keyed hash, never the id itself.

Whoever reads a log can tell that two lines are about the same conversation, and nobody can tell whose it is without the
key. A pseudonym is bound to its organisation: one person in two of them has two.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Literal

from fencepost.identity.domain.scope import Scope

PURPOSE = "pseudonym"
"""What the key is derived for."""

type PseudonymKind = Literal["org", "owner", "conv", "msg", "fact", "summary", "file", "job", "diag"]

_HEX_DIGITS = 16  # 64 bits: among a million names, two are alike once in forty million times.
_PRIVATE: tuple[PseudonymKind, ...] = ("msg", "fact", "summary", "file")


@dataclass(frozen=True, slots=True)
class Pseudonyms:
    """Makes pseudonyms with HMAC-SHA-256 (RFC 2104).

    Attributes:
        key: 32 bytes, derived for this purpose alone. With another one all pseudonyms are others.
    """

    key: bytes

    def of(self, kind: PseudonymKind, org: str, name: str = "") -> str:
        """Return the pseudonym of an id in an organisation, e.g. `conv_6f0d3c1e22b1a9d4`."""
        parts = (kind, org, name)
        # Lengths in front, or two ids could be cut differently and read the same.
        message = b"".join(len(part.encode()).to_bytes(4) + part.encode() for part in parts)
        return f"{kind}_{hmac.digest(self.key, message, 'sha256').hex()[:_HEX_DIGITS]}"

    def organisation(self, org: str) -> str:
        """Return an organisation's pseudonym."""
        return self.of("org", org)

    def owner(self, scope: Scope) -> str:
        """Return the pseudonym of those whose words a scope opens."""
        return self.of("owner", scope.org, scope.owner)

    def source(self, scope: Scope, source_id: str) -> str:
        """Return the id of a source as it may be logged: a public section's own, and a pseudonym of all else."""
        kind, separator, name = source_id.partition(":")
        known = _private_kind(kind) if separator else None
        return self.of(known, scope.org, f"{scope.owner}\0{name}") if known else source_id


def is_public(source_id: str) -> bool:
    """Tell whether a source is a section of the site's own documents, rather than something that somebody said."""
    kind, separator, _ = source_id.partition(":")
    return not separator or _private_kind(kind) is None


def _private_kind(kind: str) -> PseudonymKind | None:
    return next((private for private in _PRIVATE if private == kind), None)
