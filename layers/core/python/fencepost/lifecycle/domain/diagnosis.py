"""An admin's look into one conversation: opened with a reason, over by itself, and kept on record."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What was opened, by whom and why.

    Attributes:
        owner: whose conversation it is.
        opened_by: the admin, as an owner of their own; nobody else may look.
        until: when it ends by itself.
        closed_at: when it was ended before that.
        looks: how often it was looked at.
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
    """One look: when, at what, and from which message on."""

    diagnosis_id: str
    at: datetime
    what: str
    from_seq: int
