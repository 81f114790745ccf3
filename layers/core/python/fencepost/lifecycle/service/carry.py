"""Read, approve and carry a conversation's summary. The conversation itself stays where it began."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from fencepost.conversations.domain.messages import Conversation
from fencepost.conversations.ports import ConversationStore
from fencepost.identity.domain.scope import Action, Caller, Member, Resource, Scope, authorize, own
from fencepost.identity.ports import Directory
from fencepost.identity.service import SiteService
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ids import RANDOM_BITS, uuid7
from fencepost.kernel.ports import Clock
from fencepost.lifecycle.domain.carry import beginning, carried
from fencepost.lifecycle.ports import CarryStore
from fencepost.memory.domain.summaries import Summary
from fencepost.memory.ports import MemoryStore

type DecideCarryScope = Callable[[Caller, Action, Resource], Scope]


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryService:
    """All methods raise `FencepostError`: `not_found`, `summary_missing`, or `conversations_unavailable`.

    Attributes:
        decide: authorises the owner in the organisation that they carry the summary to.
    """

    conversations: ConversationStore
    memory: MemoryStore
    store: CarryStore
    directory: Directory
    sites: SiteService
    clock: Clock
    decide: DecideCarryScope = authorize

    def summary(self, scope: Scope, conversation_id: str) -> Summary:
        """Return a conversation's summary."""
        if self.conversations.get(scope, conversation_id) is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        summary = self.memory.summary(scope, conversation_id)
        if summary is None:
            raise FencepostError(ErrorCode.SUMMARY_MISSING)
        return summary

    def approve(self, scope: Scope, conversation_id: str, summary_id: str) -> Summary:
        """Allow the summary to be carried.

        Args:
            scope: the owner's.
            conversation_id: whose summary it is.
            summary_id: of the one that the owner has read; a later one they have not.

        Raises:
            FencepostError: `summary_not_approved` besides; there is another summary by now.
        """
        self.summary(scope, conversation_id)
        if not self.store.approve(scope, conversation_id, summary_id):
            raise FencepostError(ErrorCode.SUMMARY_NOT_APPROVED)
        return self.summary(scope, conversation_id)

    def carry(self, scope: Scope, conversation_id: str, organisation: str, site: str | None) -> Conversation:
        """Begin a conversation in another organisation with the summary of this one.

        Args:
            scope: the owner's, where the conversation is.
            conversation_id: whose summary it is.
            organisation: where the owner is a member too.
            site: public key of one of its sites; None takes its default.

        Raises:
            FencepostError: besides, `carry_invalid` for the organisation itself, `carry_not_allowed`,
                `summary_not_approved`, or `site_unknown`.
        """
        summary = self.summary(scope, conversation_id)
        if organisation == scope.org:
            raise FencepostError(ErrorCode.CARRY_INVALID)
        caller = self._member(scope, organisation)
        target = self.decide(caller, Action.CARRY, own(caller))
        self._require_allowed(scope.org, organisation)
        if not summary.approved:
            raise FencepostError(ErrorCode.SUMMARY_NOT_APPROVED)
        return self._begin(target, summary, self.sites.site_for(caller, site).id)

    def _member(self, scope: Scope, organisation: str) -> Member:
        """Return the owner as a member of the other organisation, with the membership of this moment, if they are."""
        kind, _, user = scope.owner.partition(":")
        if kind != "member":
            raise FencepostError(ErrorCode.CARRY_NOT_ALLOWED)
        return Member(organisation, user, self.directory.membership(organisation, user))

    def _require_allowed(self, *organisations: str) -> None:
        if not all(self.sites.organisation(org).allows_carry for org in organisations):
            raise FencepostError(ErrorCode.CARRY_NOT_ALLOWED)

    def _begin(self, target: Scope, summary: Summary, site: str) -> Conversation:
        now = self.clock()
        conversation = beginning(summary, self._id(), self._id(), site, now)
        if not self.store.begin(target, conversation, carried(summary, self._id(), now)):
            # The membership changed since it was read.
            raise FencepostError(ErrorCode.NOT_FOUND)
        return conversation

    def _id(self) -> str:
        return uuid7(self.clock(), secrets.randbits(RANDOM_BITS))
