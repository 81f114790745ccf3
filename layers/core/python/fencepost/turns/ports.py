"""The store of turns."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from fencepost.conversations.domain.messages import Conversation, Message, MessagePointer
from fencepost.identity.domain.scope import Scope
from fencepost.turns.domain.turns import Claim, ClaimRefused, Settlement, SettleRefused, TurnMaterial


class TurnStore(Protocol):
    """Storage of turns. Each method is one step of a turn's five sequential store operations.

    All methods raise `FencepostError` with `conversations_unavailable` when the store does not answer.
    """

    def claim(self, scope: Scope, claim: Claim) -> ClaimRefused | None:
        """Acquire the lease and store the question as pending, in one transaction; return the refusal, if any.

        The transaction requires that the membership is active and has the scope's version, that the conversation
        exists, is free and is on the claim's site, that the message's id is new, that its files exist, and that no
        answer was made for its key. It notes in the files which conversation uses them. Repeating a claim whose
        response was lost succeeds.
        """
        ...

    def load(self, scope: Scope, conversation_id: str, limit: int) -> TurnMaterial | None:
        """Load the rows for the prompt in parallel; None where the conversation is gone."""
        ...

    def settle(self, scope: Scope, settlement: Settlement) -> SettleRefused | None:
        """Store question, answer and context and free the lease, in one transaction; return the refusal, if any.

        The transaction requires that the turn still holds the lease, and that a member still is one. Settling twice
        changes nothing.
        """
        ...

    def release(self, scope: Scope, conversation_id: str, holder: str, now: datetime) -> None:
        """End the lease early and leave the question pending, for a retry. Does nothing if the lease is lost."""
        ...

    def park(self, scope: Scope, conversation: Conversation, now: datetime) -> bool:
        """Store a dead turn's question as a pending row and free the lease; False where another process was faster."""
        ...

    def stored_answer(self, scope: Scope, pointer: MessagePointer, key: str | None = None) -> Message | None:
        """Return the newest answer to a question, or the answer that was made for a key; None if there is none.

        Args:
            scope: the owner's.
            pointer: of the question.
            key: fingerprint of the idempotency key, as in a claim.
        """
        ...
