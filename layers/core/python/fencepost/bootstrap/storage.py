"""Exports, imports, archives and attachments, as the API asks for them and the worker does them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.bootstrap.stores import Stores
from fencepost.conversations.routes.attachments import AttachmentRoutes
from fencepost.conversations.service.attachments import AttachmentService
from fencepost.documents.readers.file_text import FileText
from fencepost.http.routing import Route
from fencepost.identity.service import SiteService
from fencepost.jobs.service.runner import JobHandler
from fencepost.kernel.clock import utc_now
from fencepost.kernel.ports import Keys
from fencepost.lifecycle.routes.exports import ExportRoutes
from fencepost.lifecycle.routes.imports import ImportRoutes
from fencepost.lifecycle.service.archive import ArchiveService
from fencepost.lifecycle.service.exports import ExportService
from fencepost.lifecycle.service.imports import ImportService
from fencepost.lifecycle.service.retention import RetentionService
from fencepost.memory.service.message_entries import MessageEntries
from fencepost.queue.domain import Purpose


@dataclass(frozen=True, slots=True)
class Storage:
    """The four services of one process."""

    exports: ExportService
    imports: ImportService
    archive: ArchiveService
    attachments: AttachmentService

    def routes(self) -> tuple[Route, ...]:
        """Return the API's part."""
        return (
            *ExportRoutes(self.exports, utc_now).routes(),
            *ImportRoutes(self.imports, utc_now).routes(),
            *AttachmentRoutes(self.attachments, utc_now).routes(),
        )

    def handlers(self) -> Mapping[Purpose, JobHandler]:
        """Return the worker's part."""
        return {
            Purpose.EXPORT: self.exports.run,
            Purpose.IMPORT: self.imports.run,
            Purpose.ARCHIVE: self.archive.run,
            Purpose.SCAN_ATTACHMENT: self.attachments.run,
        }


def storage(reached: Stores, keys: Keys, sites: SiteService, entries: MessageEntries | None = None) -> Storage:
    """Build them. Nothing is connected to.

    Args:
        entries: what the index holds of conversations, for whoever removes old messages.
    """
    conversations, memory, archive = reached.conversations, reached.memory, reached.archive
    blobs, jobs = reached.blobs, reached.jobs
    return Storage(
        exports=ExportService(
            conversations=conversations, memory=memory, blobs=blobs, jobs=jobs, keys=keys, clock=utc_now
        ),
        imports=ImportService(
            conversations=conversations,
            imports=reached.imports,
            memory=memory,
            blobs=blobs,
            jobs=jobs,
            sites=sites,
            keys=keys,
            clock=utc_now,
        ),
        archive=ArchiveService(
            archive=archive,
            blobs=blobs,
            sites=sites,
            retention=RetentionService(archive, memory, blobs, entries),
            clock=utc_now,
        ),
        attachments=AttachmentService(
            store=reached.attachments, blobs=blobs, jobs=jobs, extractor=FileText(), clock=utc_now
        ),
    )
