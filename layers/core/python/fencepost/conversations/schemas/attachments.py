"""Request and response models of attachments."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from fencepost.blobs.ports import UploadForm
from fencepost.conversations.domain.attachments import (
    CONTENT_TYPES,
    MAX_FILE_BYTES,
    MAX_NAME_CHARACTERS,
    Attachment,
    AttachmentState,
)
from fencepost.http.body import Body
from fencepost.http.schemas import Sent, UploadBody, Whole, upload_body
from fencepost.kernel.errors import ErrorCode
from fencepost.kernel.text import normalise
from fencepost.queue.domain import JobRecord


def _shown(name: str) -> str:
    shown = " ".join(normalise(name).split())
    if not shown or len(shown) > MAX_NAME_CHARACTERS:
        raise PydanticCustomError("name", "nothing to be seen, or too long once normalised")
    return shown


class AttachmentRequest(Body):
    """A file to upload."""

    name: Annotated[str, Field(max_length=1_000), AfterValidator(_shown)] = Field(
        description=f"Display name; at most {MAX_NAME_CHARACTERS} characters.", pattern=r"\S"
    )
    content_type: str = Field(alias="contentType", max_length=100, description=f"One of {', '.join(CONTENT_TYPES)}.")
    size: Annotated[Whole, Field(ge=1)] = Field(
        description=f"Bytes, at most {MAX_FILE_BYTES:,}; the upload may not be larger."
    )


class AttachmentBody(Sent):
    """An uploaded file."""

    id: str
    name: str
    content_type: str
    size: int
    state: AttachmentState
    created_at: datetime
    characters: int | None = Field(None, description="Characters of its text. Present once it was scanned.")
    error: ErrorCode | None = Field(None, description="Reason of the refusal.")
    job_id: str | None = Field(None, description="Id of the scan's job, where this request started one.")
    upload: UploadBody | None = None
    expires_at: datetime | None = Field(None, description="When the upload form expires.")


def attachment_body(
    attachment: Attachment,
    *,
    job: JobRecord | None = None,
    form: UploadForm | None = None,
    expires_at: datetime | None = None,
) -> AttachmentBody:
    """Return the body of an attachment, with what this request adds: its job, or the upload form and when that ends."""
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
