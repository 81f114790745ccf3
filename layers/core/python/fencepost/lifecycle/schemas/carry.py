"""Request and response models of summaries that are read, approved and carried into another organisation."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from fencepost.http.body import Body
from fencepost.http.schemas import Sent
from fencepost.memory.domain.summaries import Summary


class CarryRequest(Body):
    """Target of a carried conversation."""

    organisation: Annotated[str, Field(min_length=1, max_length=63)] = Field(
        description="Id of another organisation where the caller is an active member."
    )
    site: Annotated[str, Field(min_length=1, max_length=128)] | None = Field(
        None, description="Public key of one of its sites; its default site if left out."
    )


class ApproveRequest(Body):
    """Approval of a summary."""

    summary_id: Annotated[str, Field(min_length=1, max_length=64, alias="summaryId")] = Field(
        description="The `id` of the summary that the caller has read."
    )


class SummaryLineBody(Sent):
    """One statement with its sources."""

    text: str
    sources: list[str] = Field(description="Ids of messages, or of the summary that it was carried over from.")


class SummaryBody(Sent):
    """A conversation's rolling summary. It is never the only copy of anything."""

    id: str
    lines: list[SummaryLineBody]
    first_seq: int
    last_seq: int
    content_hash: str = Field(description="SHA-256 of the messages that it covers.")
    prompt_version: str
    model: str
    created_at: datetime
    approved: bool = Field(description="Whether it may be carried into another organisation.")


def summary_body(summary: Summary) -> SummaryBody:
    """Return the body of a summary."""
    return SummaryBody.model_validate(summary, from_attributes=True)
