"""What is remembered beside the messages themselves: pinned facts, and a rolling summary of older messages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal


class FactState(StrEnum):
    """Only `PINNED` facts go into a prompt. A `SUPERSEDED` one is kept, and is never presented as current."""

    PINNED = "pinned"
    PROPOSED = "proposed"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One sentence to be kept in mind.

    Attributes:
        pinned_by: who vouches for it; `job` is a proposal that a setting trusts.
        provenance: ids of the messages that it was drawn from; empty where a person wrote it.
        superseded_by: id of the fact that took its place, where one did.
    """

    id: str
    text: str
    state: FactState
    pinned_by: Literal["owner", "site", "job"]
    created_at: datetime
    provenance: tuple[str, ...] = ()
    superseded_by: str | None = None


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
