"""Visitors: anonymous people of a site, told apart by tokens. Nothing is stored."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final

from fencepost.access.ports import VisitorToken, VisitorTokens
from fencepost.identity.domain.scope import Visitor
from fencepost.identity.domain.sites import Site
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock

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
