"""Decisions on who may reach what, each of them reported."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final, Literal

from fencepost.access.ports import VisitorToken, VisitorTokens
from fencepost.identity.domain.scope import (
    Action,
    Caller,
    DenialReason,
    Denied,
    Member,
    Operator,
    Resource,
    Scope,
    Visitor,
    authorize,
    own,
)
from fencepost.identity.domain.sites import Site
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock, Keys
from fencepost.observability.domain.event_parts import Subject
from fencepost.observability.domain.events import AuthorizationEvent
from fencepost.observability.ports import Events
from fencepost.observability.service import pseudonyms, subject_of


@dataclass(frozen=True, slots=True)
class Authorizer:
    """`authorize`, with an event for each decision.

    Attributes:
        at: the moment at which this one decides.
    """

    keys: Keys
    events: Events
    at: Literal["request", "turn", "job"] = "request"

    def __call__(self, caller: Caller, action: Action, resource: Resource) -> Scope:
        """Decide, from the caller's current membership.

        Raises:
            Denied: a `not_found` that says nothing of the reason. The event does.
        """
        try:
            scope = authorize(caller, action, resource)
        except Denied as denial:
            self._report(caller, action, resource, denial.reason)
            raise
        self._report(caller, action, resource)
        return scope

    def refused(self, reason: DenialReason, caller: Caller | None = None) -> None:
        """Report somebody who was turned away with the organisation that they chose, before they asked for anything.

        Args:
            reason: it is never told to them.
            caller: who it was; None where not even the organisation could be one.
        """
        self.events.emit(
            AuthorizationEvent(
                decision="denied",
                caller=caller and _kind(caller),
                at=self.at,
                reason=reason,
                subject=caller and self._subject(caller, own(caller)),
            )
        )

    def _report(self, caller: Caller, action: Action, resource: Resource, reason: DenialReason | None = None) -> None:
        membership = caller.membership if isinstance(caller, Member) else None
        self.events.emit(
            AuthorizationEvent(
                decision="denied" if reason else "allowed",
                action=action,
                caller=_kind(caller),
                at=self.at,
                reason=reason,
                permission_version=membership and membership.version,
                subject=self._subject(caller, resource),
            )
        )

    def _subject(self, caller: Caller, resource: Resource) -> Subject | None:
        try:
            return subject_of(pseudonyms(self.keys), resource, caller.owner)
        except FencepostError:
            # A decision stands, and is reported, even where nobody can be named.
            return None


def _kind(caller: Caller) -> Literal["visitor", "member", "operator"]:
    if isinstance(caller, Member):
        return "member"
    return "operator" if isinstance(caller, Operator) else "visitor"


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
