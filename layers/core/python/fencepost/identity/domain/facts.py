"""Facts, as a site or an owner pins them. They stand here because a site's settings hold facts."""

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
