"""Wiring of attachments: uploads in the API, scans in the jobs function, their texts in a turn."""

from __future__ import annotations

from fencepost.bootstrap.stores import TenantStores
from fencepost.bootstrap.wiring.conversations import job_store
from fencepost.conversations.dynamodb.attachments import DynamoDbAttachments
from fencepost.conversations.service.attachments import AttachmentService
from fencepost.documents.readers.file_text import FileText
from fencepost.kernel.clock import utc_now


def attachment_service(stores: TenantStores) -> AttachmentService:
    """Return the attachment service. Opens no connection."""
    return AttachmentService(
        store=stores.build(lambda access: DynamoDbAttachments(stores.table, access.dynamodb)),
        blobs=stores.blobs,
        jobs=job_store(stores),
        extractor=FileText(),
        clock=utc_now,
    )
