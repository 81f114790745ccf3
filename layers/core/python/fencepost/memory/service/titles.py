"""Job that titles a conversation with the first words of its first message."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.conversations.domain.messages import title_of
from fencepost.conversations.ports import ConversationStore
from fencepost.identity.domain.scope import Scope
from fencepost.memory.ports import MemoryStore
from fencepost.queue.domain import Job


@dataclass(frozen=True, slots=True)
class TitleService:
    """Handler of `Purpose.TITLE`. An existing title is kept."""

    conversations: ConversationStore
    memory: MemoryStore

    def run(self, scope: Scope, job: Job) -> None:
        """Set the title of the job's conversation.

        Raises:
            FencepostError: `conversations_unavailable`.
        """
        if not job.conversation or not job.incarnation:
            return
        first = self.conversations.messages(scope, job.conversation, after=None, limit=1, newest_first=False).items
        if first:
            self.memory.name_conversation(scope, job.conversation, job.incarnation, title_of(first[0].content))
