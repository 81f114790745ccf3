"""What carries a summary from one organisation into another."""

from __future__ import annotations

from typing import Protocol

from fencepost.domain.identity import Scope
from fencepost.domain.memory import Summary
from fencepost.domain.messages import Conversation


class CarryStore(Protocol):
    """Approves summaries, and begins conversations with them. Each method touches its own scope's organisation alone.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def approve(self, scope: Scope, conversation_id: str, summary_id: str) -> bool:
        """Mark a summary as approved; False where the conversation has another one by now, or none."""
        ...

    def begin(self, scope: Scope, conversation: Conversation, summary: Summary) -> bool:
        """Store a new conversation and its summary together; False where the permission is not the scope's any more."""
        ...
