"""The store of turns."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from fencepost.conversations.domain.messages import Conversation, Message, MessagePointer
from fencepost.identity.domain.scope import Scope
from fencepost.turns.domain.turns import Claim, ClaimRefused, Settlement, SettleRefused, TurnMaterial


class TurnStore(Protocol):
    """What one turn needs. Each method is one step of its five sequential store operations.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def claim(self, scope: Scope, claim: Claim) -> ClaimRefused | None:
        """Take the lease and store the question as pending, in one transaction; say what stood in the way.

        Checked in the transaction: the membership is active and of the scope's version, the conversation is there, free
        and on the claim's site, the message's id is new, its files are there, and no answer was made for its key. The
        files learn which conversation uses them. Repeating a claim whose answer was lost succeeds.
        """
        ...

    def load(self, scope: Scope, conversation_id: str, limit: int) -> TurnMaterial | None:
        """Read, in parallel, what the prompt is made of; None where the conversation is gone."""
        ...

    def settle(self, scope: Scope, settlement: Settlement) -> SettleRefused | None:
        """Store question, answer and context and free the lease, in one transaction; say what stood in the way.

        Checked in the transaction: the lease is still the turn's own, and a member is still one. Settling twice changes
        nothing.
        """
        ...

    def release(self, scope: Scope, conversation_id: str, holder: str, now: datetime) -> None:
        """End the lease early and leave the question pending, for a retry to finish. Does nothing if it is lost."""
        ...

    def park(self, scope: Scope, conversation: Conversation, now: datetime) -> bool:
        """Make a dead turn's question a row of its own and free the lease; False where somebody was faster."""
        ...

    def stored_answer(self, scope: Scope, pointer: MessagePointer, key: str | None = None) -> Message | None:
        """Return the newest complete answer to a question, or the one that was made for a key; None if there is none.

        Args:
            scope: whose.
            pointer: of the question.
            key: a fingerprint, as a claim holds it.
        """
        ...
