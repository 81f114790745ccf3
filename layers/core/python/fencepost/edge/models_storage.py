"""Request and response models of exports, imports and attachments."""

from __future__ import annotations

import binascii
from base64 import b64decode
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from fencepost.domain.attachments import CONTENT_TYPES, MAX_FILE_BYTES, MAX_NAME_CHARACTERS, Attachment, AttachmentState
from fencepost.domain.errors import ErrorCode
from fencepost.domain.jobs import JobRecord, JobState
from fencepost.domain.text import normalise
from fencepost.edge.body import Body
from fencepost.edge.models_conversations import Sent
from fencepost.ports import UploadForm


def _decoded(value: object) -> object:
    try:
        return b64decode(value, validate=True) if isinstance(value, str) else value
    except (binascii.Error, ValueError):
        raise PydanticCustomError("base64", "not Base64") from None


def _whole(value: object) -> object:
    """The reader of JSON makes floating-point numbers of all numbers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _shown(name: str) -> str:
    shown = " ".join(normalise(name).split())
    if not shown or len(shown) > MAX_NAME_CHARACTERS:
        raise PydanticCustomError("name", "nothing to be seen, or too long once normalised")
    return shown


class ImportRequest(Body):
    """A bundle, or none: then the answer says where to upload it."""

    bundle: Annotated[bytes | None, BeforeValidator(_decoded)] = Field(
        None, description="The file, in Base64 (RFC 4648, section 4).", json_schema_extra={"format": "byte"}
    )


class AttachmentRequest(Body):
    """A file to be uploaded."""

    name: Annotated[str, Field(max_length=1_000), AfterValidator(_shown)] = Field(
        description=f"For people to read; at most {MAX_NAME_CHARACTERS} characters.", pattern=r"\S"
    )
    content_type: str = Field(alias="contentType", max_length=100, description=f"One of {', '.join(CONTENT_TYPES)}.")
    size: Annotated[int, BeforeValidator(_whole), Field(ge=1)] = Field(
        description=f"Bytes, at most {MAX_FILE_BYTES:,}; the upload may not be larger."
    )


class UploadBody(Sent):
    """A form to be posted as `multipart/form-data`: these fields first, the file last, as `file`."""

    url: str
    fields: dict[str, str]


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


class AttachmentBody(Sent):
    """An uploaded file."""

    id: str
    name: str
    content_type: str
    size: int
    state: AttachmentState
    created_at: datetime
    characters: int | None = Field(None, description="Of its text, once it was read.")
    error: ErrorCode | None = Field(None, description="Why it was refused.")
    job_id: str | None = Field(None, description="Of the job that reads it, where this request started one.")
    upload: UploadBody | None = None
    expires_at: datetime | None = Field(None, description="When the form for the upload ends.")


def job_body(record: JobRecord) -> JobBody:
    """Return a job as the API's JSON."""
    return JobBody(
        job_id=record.id,
        state=record.state,
        created_at=record.created_at,
        progress=record.progress,
        error=ErrorCode(record.error) if record.error else None,
    )


def upload_body(form: UploadForm) -> UploadBody:
    """Return a form as the API's JSON."""
    return UploadBody(url=form.url, fields=form.fields)


def attachment_body(
    attachment: Attachment,
    *,
    job: JobRecord | None = None,
    form: UploadForm | None = None,
    expires_at: datetime | None = None,
) -> AttachmentBody:
    """Return a file as the API's JSON."""
    return AttachmentBody(
        id=attachment.id,
        name=attachment.name,
        content_type=attachment.content_type,
        size=attachment.size,
        state=attachment.state,
        created_at=attachment.created_at,
        characters=attachment.characters if attachment.state is AttachmentState.READY else None,
        error=ErrorCode(attachment.error) if attachment.error else None,
        job_id=job.id if job else None,
        upload=upload_body(form) if form else None,
        expires_at=expires_at,
    )
