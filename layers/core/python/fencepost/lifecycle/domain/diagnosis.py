"""Diagnoses: an admin opens one to read one conversation; it ends by itself, and every look is recorded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """A diagnosis of one conversation.

    Attributes:
        owner: the conversation's owner.
        opened_by: the admin who opened it, as an actor. Only this admin may look.
        until: when it ends by itself.
        closed_at: when it was closed before that.
        looks: number of recorded looks.
    """

    id: str
    conversation_id: str
    owner: str
    opened_by: str
    reason: str
    opened_at: datetime
    until: datetime
    closed_at: datetime | None = None
    looks: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A recorded look.

    Attributes:
        what: `messages` or `context`.
        from_seq: number of the first message that was read.
    """

    diagnosis_id: str
    at: datetime
    what: str
    from_seq: int
