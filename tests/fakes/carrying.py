"""Approved and carried summaries over the fakes of memory and conversations."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fencepost.conversations.domain.messages import Conversation
from fencepost.identity.domain.scope import Scope
from fencepost.memory.domain.summaries import Summary
from tests.fakes.conversations import FakeConversations, owned
from tests.fakes.directory import FakeDirectory
from tests.fakes.memory import FakeMemory


@dataclass
class FakeCarryStore:
    """Implements `CarryStore`."""

    conversations: FakeConversations
    memory: FakeMemory
    directory: FakeDirectory

    def approve(self, scope: Scope, conversation_id: str, summary_id: str) -> bool:
        row, summary = self.conversations.get(scope, conversation_id), self.memory.summary(scope, conversation_id)
        if row is None or summary is None or summary.id != summary_id:
            return False
        return self.memory.write_summary(scope, conversation_id, row.incarnation, replace(summary, approved=True))

    def begin(self, scope: Scope, conversation: Conversation, summary: Summary) -> bool:
        kind, _, user = scope.actor.partition(":")
        membership = self.directory.membership(scope.org, user)
        is_current = membership and membership.active and membership.version == scope.permission_version
        if kind == "member" and not is_current:
            return False
        place, rows = owned(scope, conversation.id), self.conversations.shelf.conversations
        rows[place] = conversation
        written = self.memory.write_summary(scope, conversation.id, conversation.incarnation, summary)
        # The row is stored as it is, without a note of how far the summary reaches.
        rows[place] = conversation
        return written
