"""The stores of conversations, for every function: with the function's own role, or with each organisation's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fencepost.access.sts import Access, TenantSessions, tenanted
from fencepost.blobs.ports import BlobStore
from fencepost.blobs.s3 import S3BlobStore
from fencepost.conversations.dynamodb.attachments import DynamoDbAttachments
from fencepost.conversations.dynamodb.conversations import DynamoDbConversations
from fencepost.conversations.ports import AttachmentStore, ConversationStore
from fencepost.documents import rows as corpus_keys
from fencepost.documents.dynamodb.documents import DynamoDbDocuments
from fencepost.documents.ports import DocumentStore
from fencepost.jobs.dynamodb.reconciler import DynamoDbReconcileStore
from fencepost.jobs.ports import ReconcileStore
from fencepost.kernel.clock import utc_now
from fencepost.lifecycle.dynamodb.archive import DynamoDbArchive
from fencepost.lifecycle.dynamodb.carry import DynamoDbCarryStore
from fencepost.lifecycle.dynamodb.diagnoses import DynamoDbDiagnoses
from fencepost.lifecycle.dynamodb.eraser import DynamoDbEraser
from fencepost.lifecycle.dynamodb.imports import DynamoDbImports
from fencepost.lifecycle.ports import ArchiveStore, CarryStore, DiagnosisStore, Eraser, ImportStore
from fencepost.memory.dynamodb.chunks import DynamoDbMessageChunks, DynamoDbRememberedConversations
from fencepost.memory.dynamodb.memory import DynamoDbMemoryStore
from fencepost.memory.dynamodb.message_hits import DynamoDbMessageHits
from fencepost.memory.ports import MemoryStore, MessageChunkStore, MessageHits, RememberedConversations
from fencepost.observability.ports import Events
from fencepost.queue.dynamodb import DynamoDbJobStore
from fencepost.queue.ports import JobStore
from fencepost.retrieval.dynamodb import DynamoDbEmbeddingCache
from fencepost.retrieval.ports import EmbeddingCache
from fencepost.settings import Settings
from fencepost.turns.dynamodb.turns import DynamoDbTurnStore
from fencepost.turns.ports import TurnStore


@dataclass(frozen=True, slots=True)
class Stores:
    """Makes each store. Those of one process share the sessions of the tenant role, where there is one."""

    table: str
    directory: str
    bucket: str
    sessions: TenantSessions | None
    corpus_table: str = ""

    @property
    def blobs(self) -> BlobStore:
        """Big answers, archived blocks, bundles and attachments."""
        return self._store(self._blobs)

    @property
    def turns(self) -> TurnStore:
        """What one turn needs."""
        return self._store(lambda to: DynamoDbTurnStore(self.table, self.directory, self._blobs(to), to.dynamodb))

    @property
    def conversations(self) -> ConversationStore:
        """Conversations outside of turns."""
        return self._store(lambda to: DynamoDbConversations(self.table, self._blobs(to), to.dynamodb))

    @property
    def memory(self) -> MemoryStore:
        """Facts and summaries."""
        return self._store(lambda to: DynamoDbMemoryStore(self.table, to.dynamodb))

    @property
    def jobs(self) -> JobStore:
        """Records of jobs."""
        return self._store(lambda to: DynamoDbJobStore(self.table, to.dynamodb))

    @property
    def archive(self) -> ArchiveStore:
        """Old messages in blocks."""
        return self._store(lambda to: DynamoDbArchive(self.table, self._blobs(to), to.dynamodb))

    @property
    def attachments(self) -> AttachmentStore:
        """Files that questions bring."""
        return self._store(lambda to: DynamoDbAttachments(self.table, to.dynamodb))

    @property
    def imports(self) -> ImportStore:
        """Conversations that an import writes."""
        return self._store(lambda to: DynamoDbImports(self.table, self._blobs(to), to.dynamodb))

    @property
    def parts(self) -> MessageChunkStore:
        """What the index holds of messages."""
        return self._store(lambda to: DynamoDbMessageChunks(self.table, to.dynamodb))

    @property
    def remembered(self) -> RememberedConversations:
        """Which conversations the index may hold messages of."""
        return self._store(lambda to: DynamoDbRememberedConversations(self.table, to.dynamodb))

    @property
    def reconciling(self) -> ReconcileStore:
        """How far comparisons with the index have come."""
        return self._store(lambda to: DynamoDbReconcileStore(self.corpus_table, to.dynamodb))

    @property
    def eraser(self) -> Eraser:
        """What removes."""
        return self._store(lambda to: DynamoDbEraser(self.table, self._blobs(to), to.dynamodb))

    @property
    def carrying(self) -> CarryStore:
        """Summaries that are carried over."""
        return self._store(lambda to: DynamoDbCarryStore(self.table, self.directory, to.dynamodb))

    @property
    def diagnoses(self) -> DiagnosisStore:
        """Records of diagnoses."""
        return self._store(lambda to: DynamoDbDiagnoses(self.table, to.dynamodb))

    @property
    def corpus(self) -> DocumentStore:
        """Documents and their chunks."""
        return self._store(lambda to: DynamoDbDocuments(self.corpus_table, to.dynamodb))

    @property
    def message_hits(self) -> MessageHits:
        """Messages that hits lead to."""
        return self._store(lambda to: DynamoDbMessageHits(self.table, to.dynamodb))

    @property
    def embeddings(self) -> EmbeddingCache:
        """Embeddings of texts that were embedded before."""
        return self._store(lambda to: DynamoDbEmbeddingCache(self.corpus_table, to.dynamodb))

    @property
    def documents(self) -> BlobStore:
        """Documents as they were read. They are the organisation's, and nobody's in it."""
        return self._store(lambda to: S3BlobStore(self.bucket, to.s3, corpus_keys.object_prefix))

    def _store[Store](self, make: Callable[[Access], Store]) -> Store:
        return tenanted(make, self.sessions)

    def _blobs(self, to: Access) -> S3BlobStore:
        return S3BlobStore(self.bucket, to.s3)


def stores(settings: Settings, log: Events) -> Stores:
    """Return what makes the stores. Nothing is connected to."""
    sessions = TenantSessions(settings.tenant_role, log, utc_now) if settings.tenant_role else None
    return Stores(
        settings.conversations_table,
        settings.directory_table,
        settings.content_bucket,
        sessions,
        settings.corpus_table,
    )
