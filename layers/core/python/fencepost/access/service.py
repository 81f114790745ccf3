"""Authorise callers with an event for each decision, and issue visitor tokens."""

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
    """Authorises actions as `authorize` does, and emits an event for each decision.

    Attributes:
        at: when the decisions are made (`AuthorizationEvent.at`).
    """

    keys: Keys
    events: Events
    at: Literal["request", "turn", "job"] = "request"

    def __call__(self, caller: Caller, action: Action, resource: Resource) -> Scope:
        """Authorise an action by the caller's current membership.

        Raises:
            Denied: sent as `not_found`; only the event has the reason.
        """
        try:
            scope = authorize(caller, action, resource)
        except Denied as denial:
            self._report(caller, action, resource, denial.reason)
            raise
        self._report(caller, action, resource)
        return scope

    def refused(self, reason: DenialReason, caller: Caller | None = None) -> None:
        """Report a caller who was denied the organisation of the request, before any action was authorised.

        Args:
            reason: never sent to the client.
            caller: the caller; None if the organisation's id is malformed.
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
            # Without the signing secret there are no pseudonyms; the decision is reported without a subject.
            return None


def _kind(caller: Caller) -> Literal["visitor", "member", "operator"]:
    if isinstance(caller, Member):
        return "member"
    return "operator" if isinstance(caller, Operator) else "visitor"


_ID_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class VisitorService:
    """Issues and renews visitor tokens."""

    tokens: VisitorTokens
    clock: Clock

    def token(self, site: Site, renewed: Visitor | None = None) -> VisitorToken:
        """Sign a token for a visitor of a site.

        Args:
            site: the visitor's site.
            renewed: visitor of the old token; None creates a new visitor with an id of 128 random bits.

        Raises:
            FencepostError: `token_invalid`; the old token was issued for another site.
        """
        visitor = renewed or Visitor(site.org, site.id, secrets.token_hex(_ID_BYTES))
        if (visitor.org, visitor.site) != (site.org, site.id):
            raise FencepostError(ErrorCode.TOKEN_INVALID)
        return self.tokens.issue(visitor, self.clock())
