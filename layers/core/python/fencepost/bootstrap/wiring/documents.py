"""Wiring of organisations' documents: their stores, and the service that the API and `make ingest` call."""

from __future__ import annotations

from fencepost.blobs.ports import BlobStore
from fencepost.blobs.s3 import S3BlobStore
from fencepost.bootstrap.stores import TenantStores
from fencepost.documents.dynamodb.documents import DynamoDbDocuments
from fencepost.documents.ports import DocumentStore
from fencepost.documents.rows import object_prefix
from fencepost.documents.service.documents import DocumentService
from fencepost.kernel.clock import utc_now
from fencepost.queue.ports import JobQueue


def document_store(stores: TenantStores) -> DocumentStore:
    """Return the store of documents and their chunks."""
    return stores.build(lambda access: DynamoDbDocuments(stores.corpus_table, access.dynamodb))


def document_blobs(stores: TenantStores) -> BlobStore:
    """Return the store of documents' raw copies. Their keys name the organisation and no owner."""
    return stores.build(lambda access: S3BlobStore(stores.bucket, access.s3, object_prefix))


def document_service(stores: TenantStores, queue: JobQueue) -> DocumentService:
    """Return the service that adds, changes and removes documents. Opens no connection."""
    return DocumentService(store=document_store(stores), blobs=document_blobs(stores), queue=queue, clock=utc_now)
