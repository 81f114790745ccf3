"""What an admin's wishes about documents are told to: in the API, and on the command line."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.bootstrap.front import Front
from fencepost.bootstrap.stores import Stores
from fencepost.documents.routes import DocumentRoutes
from fencepost.documents.service.documents import DocumentService
from fencepost.http.cursors import Cursors
from fencepost.http.routing import Route
from fencepost.kernel.clock import utc_now
from fencepost.queue.ports import JobQueue
from fencepost.queue.sqs import SqsJobQueue
from fencepost.settings import Settings


def corpus_service(reached: Stores, queue: JobQueue) -> DocumentService:
    """Build what an admin's wishes are told to. Nothing is connected to."""
    return DocumentService(store=reached.corpus, blobs=reached.documents, queue=queue, clock=utc_now)


def document_routes(settings: Settings, reached: Stores, before: Front) -> tuple[Route, ...]:
    """Return the API's part."""
    service = corpus_service(reached, SqsJobQueue(settings.jobs_queue)) if settings.index != "none" else None
    return DocumentRoutes(service, _has_site(before), Cursors(before.keys), utc_now).routes()


def _has_site(before: Front) -> Callable[[str, str], bool]:
    return lambda org, site: before.directory.site(org, site) is not None
