"""Attachments: the browser uploads them to S3, a job extracts their text, and prompts quote it.

A file belongs to its owner and may be attached in several conversations. It is erased with the last of them. A file
that was never attached is erased with its owner.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore, UploadForm
from fencepost.conversations.domain.attachments import (
    CONTENT_TYPES,
    MAX_ATTACHMENTS,
    MAX_FILE_BYTES,
    AttachedText,
    Attachment,
    AttachmentState,
)
from fencepost.conversations.ports import AttachmentStore, TextExtractor
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.concurrency import run_concurrently
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ids import RANDOM_BITS, uuid7
from fencepost.kernel.ports import Clock
from fencepost.queue.domain import Job, JobRecord, JobState, Purpose
from fencepost.queue.ports import JobStore
from fencepost.queue.service import new_record

_TEXT = "text/plain; charset=utf-8"
_ATTACHMENT = "attachment"
_REFUSALS = frozenset({ErrorCode.ATTACHMENT_TOO_LARGE, ErrorCode.ATTACHMENT_UNREADABLE})


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentService:
    """Offers uploads, scans uploaded files and returns their texts."""

    store: AttachmentStore
    blobs: BlobStore
    jobs: JobStore
    extractor: TextExtractor
    clock: Clock

    def offer(self, scope: Scope, name: str, content_type: str, size: int) -> tuple[Attachment, UploadForm]:
        """Announce a file and return its upload form.

        Args:
            scope: the owner's.
            name: display name.
            content_type: one of `CONTENT_TYPES`.
            size: bytes, at least 1; the upload may not be larger.

        Raises:
            FencepostError: `attachment_type_unsupported` or `attachment_too_large`.
        """
        if content_type not in CONTENT_TYPES:
            raise FencepostError(ErrorCode.ATTACHMENT_TYPE_UNSUPPORTED)
        if size > MAX_FILE_BYTES:
            raise FencepostError(ErrorCode.ATTACHMENT_TOO_LARGE)
        now = self.clock()
        attachment = Attachment(
            id=uuid7(now, secrets.randbits(RANDOM_BITS)),
            name=name,
            content_type=content_type,
            size=size,
            state=AttachmentState.AWAITED,
            created_at=now,
        )
        self.store.put(scope, attachment)
        where = objects.attachment(attachment.id)
        return attachment, self.blobs.upload_form(scope, where, content_type, size, objects.UPLOAD_SECONDS)

    def scan(self, scope: Scope, site: str, attachment_id: str) -> tuple[Attachment, JobRecord | None]:
        """Queue the scan of an uploaded file, unless it was scanned before.

        Raises:
            FencepostError: `not_found`. `attachment_not_ready`; the file is not uploaded yet.
        """
        attachment = self.get(scope, attachment_id)
        if attachment.state is not AttachmentState.AWAITED:
            return attachment, None
        name = objects.attachment(attachment_id)
        if name not in self.blobs.names(scope, name):
            raise FencepostError(ErrorCode.ATTACHMENT_NOT_READY)
        parameters = {_ATTACHMENT: attachment_id}
        record = new_record(scope, Purpose.SCAN_ATTACHMENT, self.clock(), site=site, parameters=parameters)
        self.jobs.queue(scope, record)
        return attachment, record

    def get(self, scope: Scope, attachment_id: str) -> Attachment:
        """Return an attachment.

        Raises:
            FencepostError: `not_found`.
        """
        attachment = self.store.get(scope, [attachment_id]).get(attachment_id)
        if attachment is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        return attachment

    def texts(self, scope: Scope, ids: Sequence[str]) -> tuple[AttachedText, ...]:
        """Return the texts of files in the given order, in one step to the stores.

        Raises:
            FencepostError: `attachments_invalid`; there are too many, or one does not exist. `attachment_not_ready`.
                The error of a refused file.
        """
        if not ids:
            return ()
        if len(ids) > MAX_ATTACHMENTS or len(set(ids)) < len(ids):
            raise FencepostError(ErrorCode.ATTACHMENTS_INVALID)
        found, texts = run_concurrently(lambda: self.store.get(scope, ids), lambda: self._stored(scope, ids))
        return tuple(_attached(found.get(one), text) for one, text in zip(ids, texts, strict=True))

    def run(self, scope: Scope, job: Job) -> None:
        """Extract the text of a file and store the new state. Runs as a job.

        Raises:
            FencepostError: `not_found`; the file was erased meanwhile. `conversations_unavailable`.
        """
        record = self.jobs.job(scope, job.record or "")
        if record is None:
            raise FencepostError(ErrorCode.NOT_FOUND)
        attachment = self.get(scope, record.parameters[_ATTACHMENT])
        if attachment.state is AttachmentState.AWAITED:
            self._note(scope, self._read(scope, attachment))
        if not self.jobs.advance(scope, job.record or "", JobState.DONE, progress={}):
            raise FencepostError(ErrorCode.NOT_FOUND)

    def _read(self, scope: Scope, attachment: Attachment) -> Attachment:
        content = self.blobs.get(scope, objects.attachment(attachment.id))
        if content is None:
            raise FencepostError(ErrorCode.ATTACHMENT_NOT_READY)
        try:
            text = self._text(attachment, content)
        except FencepostError as error:
            if error.code not in _REFUSALS:
                raise
            return replace(attachment, state=AttachmentState.REFUSED, error=error.code)
        self.blobs.put(scope, objects.attachment_text(attachment.id), text.encode(), _TEXT)
        return replace(attachment, state=AttachmentState.READY, characters=len(text))

    def _text(self, attachment: Attachment, content: bytes) -> str:
        if len(content) > attachment.size:
            raise FencepostError(ErrorCode.ATTACHMENT_TOO_LARGE)
        return self.extractor.text(content, attachment.content_type)

    def _note(self, scope: Scope, attachment: Attachment) -> None:
        if not self.store.advance(scope, attachment):
            # An erasure may have looked for objects before the text was stored.
            self.blobs.delete(scope, objects.attachment_text(attachment.id))
            raise FencepostError(ErrorCode.NOT_FOUND)

    def _stored(self, scope: Scope, ids: Sequence[str]) -> list[bytes | None]:
        return [self.blobs.get(scope, objects.attachment_text(one)) for one in ids]


def _attached(attachment: Attachment | None, text: bytes | None) -> AttachedText:
    if attachment is None:
        raise FencepostError(ErrorCode.ATTACHMENTS_INVALID)
    if attachment.state is AttachmentState.REFUSED:
        raise FencepostError(ErrorCode(attachment.error or ErrorCode.ATTACHMENT_UNREADABLE))
    if attachment.state is AttachmentState.AWAITED:
        raise FencepostError(ErrorCode.ATTACHMENT_NOT_READY)
    if text is None:
        raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
    return AttachedText(attachment.id, attachment.name, text.decode())
