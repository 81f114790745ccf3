"""Request and response models of exports and imports, and of the jobs that run them."""

from __future__ import annotations

import binascii
from base64 import b64decode
from datetime import datetime
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from fencepost.http.body import Body
from fencepost.http.schemas import Sent, UploadBody
from fencepost.kernel.errors import ErrorCode
from fencepost.queue.domain import JobRecord, JobState


def _decoded(value: object) -> object:
    try:
        return b64decode(value, validate=True) if isinstance(value, str) else value
    except (binascii.Error, ValueError):
        raise PydanticCustomError("base64", "not Base64") from None


class ImportRequest(Body):
    """A bundle to import. If it is left out, the response has a form to upload it."""

    bundle: Annotated[bytes | None, BeforeValidator(_decoded)] = Field(
        None, description="The file, in Base64 (RFC 4648, section 4).", json_schema_extra={"format": "byte"}
    )


class JobBody(Sent):
    """A background job."""

    job_id: str
    state: JobState
    created_at: datetime
    progress: dict[str, int] = Field(description="Counts so far.")
    error: ErrorCode | None = Field(None, description="Error that ended it.")


class ExportBody(JobBody):
    """An export."""

    url: str | None = Field(None, description="Link to the bundle. Present once the export is done.")
    expires_at: datetime | None = Field(
        None, description="When the link expires; reading the state again returns a new one."
    )


class ImportUploadBody(Sent):
    """Form to upload a bundle. Start the import after the upload."""

    job_id: str
    upload: UploadBody
    max_bytes: int
    expires_at: datetime


def job_body(record: JobRecord) -> JobBody:
    """Return the body of a job."""
    return JobBody(
        job_id=record.id,
        state=record.state,
        created_at=record.created_at,
        progress=record.progress,
        error=ErrorCode(record.error) if record.error else None,
    )
