"""Use cases of carrying: read and approve a summary, and begin a conversation with it in another organisation."""

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
    """Reads, approves and carries summaries. The conversation itself stays in its organisation.

    All methods raise `FencepostError`: `not_found`, `summary_missing`, or `conversations_unavailable`.

    Attributes:
        decide: authorises the owner in the organisation that the summary is carried to.
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
            conversation_id: id of the conversation.
            summary_id: id of the summary that the owner has read.

        Raises:
            FencepostError: also `summary_not_approved`, if the conversation has a newer summary.
        """
        self.summary(scope, conversation_id)
        if not self.store.approve(scope, conversation_id, summary_id):
            raise FencepostError(ErrorCode.SUMMARY_NOT_APPROVED)
        return self.summary(scope, conversation_id)

    def carry(self, scope: Scope, conversation_id: str, organisation: str, site: str | None) -> Conversation:
        """Begin a conversation in another organisation with the summary of this one.

        Args:
            scope: the owner's, in the conversation's organisation.
            conversation_id: id of the conversation.
            organisation: the target, of which the owner is a member too.
            site: public key of one of the target's sites; None takes the target's default site.

        Raises:
            FencepostError: also `carry_invalid`, if the target is the conversation's organisation; `carry_not_allowed`,
                `summary_not_approved`, or `site_unknown`.
        """
        summary = self.summary(scope, conversation_id)
        if organisation == scope.org:
            raise FencepostError(ErrorCode.CARRY_INVALID)
        caller = self._member(scope, organisation)
        target = self.decide(caller, Action.CARRY, own(caller))
        if not all(self.sites.organisation(org).allows_carry for org in (scope.org, organisation)):
            raise FencepostError(ErrorCode.CARRY_NOT_ALLOWED)
        if not summary.approved:
            raise FencepostError(ErrorCode.SUMMARY_NOT_APPROVED)
        return self._begin(target, summary, self.sites.site_for(caller, site).id)

    def _member(self, scope: Scope, organisation: str) -> Member:
        """Return the owner as a member of the other organisation, with their current membership, if they have one."""
        kind, _, user = scope.owner.partition(":")
        if kind != "member":
            raise FencepostError(ErrorCode.CARRY_NOT_ALLOWED)
        return Member(organisation, user, self.directory.membership(organisation, user))

    def _begin(self, target: Scope, summary: Summary, site: str) -> Conversation:
        now = self.clock()
        conversation = beginning(summary, self._id(), self._id(), site, now)
        if not self.store.begin(target, conversation, carried(summary, self._id(), now)):
            # The membership has changed since it was read.
            raise FencepostError(ErrorCode.NOT_FOUND)
        return conversation

    def _id(self) -> str:
        return uuid7(self.clock(), secrets.randbits(RANDOM_BITS))
