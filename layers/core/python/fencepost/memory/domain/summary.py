"""What is remembered beside the messages themselves: pinned facts, and a rolling summary of older messages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """One statement, and the ids of the messages that it rests on: at least one."""

    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The rolling summary of a conversation's messages from `first_seq` to `last_seq`; never their only copy.

    Attributes:
        content_hash: SHA-256 over ids and texts of the range, in order: another hash says that it must be remade.
        approved: the owner has read it and allows it to be carried into another conversation.
    """

    id: str
    lines: tuple[SummaryLine, ...]
    first_seq: int
    last_seq: int
    content_hash: str
    prompt_version: str
    model: str
    created_at: datetime
    approved: bool = False
