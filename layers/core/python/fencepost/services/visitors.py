"""Visitors: anonymous people of a site, told apart by tokens. Nothing is stored."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final

from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.identity import Visitor
from fencepost.domain.sites import Site
from fencepost.ports import Clock, VisitorToken, VisitorTokens

_ID_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class VisitorService:
    """Gives out tokens, and new ones for old."""

    tokens: VisitorTokens
    clock: Clock

    def token(self, site: Site, renewed: Visitor | None = None) -> VisitorToken:
        """Sign a token for a visitor of a site.

        Args:
            site: where the visitor is.
            renewed: whom the old token named; None makes somebody new, with 128 random bits.

        Raises:
            FencepostError: `token_invalid`; the old token was another site's.
        """
        visitor = renewed or Visitor(site.org, site.id, secrets.token_hex(_ID_BYTES))
        if (visitor.org, visitor.site) != (site.org, site.id):
            raise FencepostError(ErrorCode.TOKEN_INVALID)
        return self.tokens.issue(visitor, self.clock())
