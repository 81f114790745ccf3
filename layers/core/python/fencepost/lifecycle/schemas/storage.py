"""Request and response models of exports, imports and attachments."""

from __future__ import annotations

import binascii
from base64 import b64decode
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from fencepost.http.body import Body
from fencepost.http.schemas import Sent, UploadBody
from fencepost.kernel.errors import ErrorCode
from fencepost.lifecycle.domain.erasures import Receipt
from fencepost.memory.domain.summaries import Summary
from fencepost.queue.domain import JobRecord, JobState


def _decoded(value: object) -> object:
    try:
        return b64decode(value, validate=True) if isinstance(value, str) else value
    except (binascii.Error, ValueError):
        raise PydanticCustomError("base64", "not Base64") from None


class ImportRequest(Body):
    """A bundle, or none: then the answer says where to upload it."""

    bundle: Annotated[bytes | None, BeforeValidator(_decoded)] = Field(
        None, description="The file, in Base64 (RFC 4648, section 4).", json_schema_extra={"format": "byte"}
    )


class JobBody(Sent):
    """Work in the background."""

    job_id: str
    state: JobState
    created_at: datetime
    progress: dict[str, int] = Field(description="What was counted so far.")
    error: ErrorCode | None = Field(None, description="What it failed of.")


class ExportBody(JobBody):
    """An export."""

    url: str | None = Field(None, description="Where the bundle can be read. Present once it is done.")
    expires_at: datetime | None = Field(None, description="When the address ends; the next look gives another.")


class ImportUploadBody(Sent):
    """Where to upload a bundle; its import is started afterwards."""

    job_id: str
    upload: UploadBody
    max_bytes: int
    expires_at: datetime


def job_body(record: JobRecord) -> JobBody:
    """Return a job as the API's JSON."""
    return JobBody(
        job_id=record.id,
        state=record.state,
        created_at=record.created_at,
        progress=record.progress,
        error=ErrorCode(record.error) if record.error else None,
    )


class ReceiptBody(Sent):
    """What an erasure removed. What was erased cannot be read any more, whatever the status."""

    receipt_id: str = Field(description="For `GET /v1/erasures/{id}`.")
    status: Literal["running", "done"] = Field(
        description="While it runs, a job will look anew, once nothing can arrive any more that was begun before."
    )
    counts: dict[str, int] = Field(
        description="What was removed so far, by kind: rows, objects, and as `vectors` entries of the index."
    )
    verified: bool = Field(description="It was looked for anew, and nothing was left.")


def receipt_body(receipt: Receipt) -> ReceiptBody:
    """Return a receipt as the API's JSON."""
    return ReceiptBody(
        receipt_id=receipt.id, status=receipt.status, counts=dict(receipt.counts), verified=receipt.verified
    )


class CarryRequest(Body):
    """Where to go on."""

    organisation: Annotated[str, Field(min_length=1, max_length=63)] = Field(
        description="Id of another organisation where the caller is an active member."
    )
    site: Annotated[str, Field(min_length=1, max_length=128)] | None = Field(
        None, description="Public key of one of its sites; without it, its default."
    )


class ApproveRequest(Body):
    """What was read."""

    summary_id: Annotated[str, Field(min_length=1, max_length=64, alias="summaryId")] = Field(
        description="The `id` of the summary that the caller has read."
    )


class SummaryLineBody(Sent):
    """One statement, and what it rests on."""

    text: str
    sources: list[str] = Field(description="Ids of messages; of a summary, where it was carried over.")


class SummaryBody(Sent):
    """A conversation's rolling summary. It is never the only copy of anything."""

    id: str
    lines: list[SummaryLineBody]
    first_seq: int
    last_seq: int
    content_hash: str = Field(description="SHA-256 over the messages that it covers.")
    prompt_version: str
    model: str
    created_at: datetime
    approved: bool = Field(description="It may be carried into another organisation.")


def summary_body(summary: Summary) -> SummaryBody:
    """Return a summary as the API's JSON."""
    return SummaryBody.model_validate(summary, from_attributes=True)
