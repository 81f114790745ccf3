"""Entries of the index that lead to no row: found by a question, or a comparison; removed by a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.conversations.domain.messages import Conversation
from fencepost.conversations.ports import ConversationStore
from fencepost.documents.domain.documents import DocumentState, is_left_over
from fencepost.documents.service.document_jobs import document_job, working
from fencepost.documents.service.indexing import PAGE, DocumentRows
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.paging import pages
from fencepost.kernel.ports import Clock
from fencepost.queue.domain import OPERATOR, Job, Purpose
from fencepost.queue.ports import JobQueue
from fencepost.retrieval.domain.search import EntryKind, Hit
from fencepost.retrieval.service.index_errors import index_errors


@dataclass(frozen=True, slots=True)
class OrphanQueue:
    """Queues what becomes of dead hits: one job for each document, or conversation."""

    queue: JobQueue
    conversations: ConversationStore
    clock: Clock

    def enqueue_removal(self, scope: Scope, kind: EntryKind, dead: Sequence[Hit]) -> None:
        """Queue it.

        Raises:
            FencepostError: `conversations_unavailable`; the store or the queue does not answer.
        """
        job = self._of_conversation if kind == "message" else self._of_document
        self.queue.send([job(scope, parent) for parent in dict.fromkeys(hit.parent for hit in dead)])

    def _of_document(self, scope: Scope, document_id: str) -> Job:
        return document_job(scope, document_id, Purpose.REMOVE_STRAYS, self.clock)

    def _of_conversation(self, scope: Scope, conversation_id: str) -> Job:
        conversation = self.conversations.get(scope, conversation_id)
        if conversation is None:
            return orphaned_messages_job(scope, conversation_id, self.clock)
        return repair_messages_job(scope, conversation, self.clock)


@dataclass(frozen=True, slots=True)
class OrphanRemoval:
    """Removes the entries of a document that none of its rows knows, or those of a conversation that is gone."""

    rows: DocumentRows
    conversations: ConversationStore
    clock: Clock

    def run(self, scope: Scope, job: Job) -> None:
        """Do it. Who builds a version of the document holds its lease: what is not known yet is never taken for lost.

        Raises:
            FencepostError: `document_busy`, `index_unavailable` or `conversations_unavailable`. Later may do.
        """
        with index_errors():
            if job.conversation:
                self._forget(scope, job.conversation)
            else:
                self._tidy(scope, job.document or "")

    def _forget(self, scope: Scope, conversation_id: str) -> None:
        """Remove the owner's entries of a conversation, as long as it is not there.

        They are listed before it is looked for: one that has come back meanwhile, by an import, loses nothing. Strays
        among its entries are then repaired after the next question, or comparison, that meets them.
        """
        index = self.rows.index
        for some in pages(lambda after: index.listed(scope, after, PAGE, parent=conversation_id, owner=scope.owner)):
            if self.conversations.get(scope, conversation_id) is not None:
                return
            self.rows.delete_entries(scope, [entry.stored_id for entry in some])

    def _tidy(self, scope: Scope, document_id: str) -> None:
        with working(self.rows.store, scope, document_id, self.clock):
            self.rows.remove_entries(scope, document_id, self._known(scope, document_id))

    def _known(self, scope: Scope, document_id: str) -> frozenset[str]:
        document = self.rows.store.get(scope, document_id)
        if document is None or document.state is DocumentState.REMOVED:
            return frozenset()
        rows = (row for page in self.rows.pages(scope, document_id) for row in page if not is_left_over(row, document))
        return frozenset(one for row in rows for one in row.entry_ids)


def repair_messages_job(scope: Scope, conversation: Conversation, clock: Clock) -> Job:
    """Return the job that compares a conversation's messages, rows and entries from the first one on."""
    return Job(
        org=scope.org,
        owner=scope.owner,
        actor=scope.owner,
        purpose=Purpose.REMEMBER,
        permission_version=0,
        created_at=clock(),
        site=conversation.site,
        conversation=conversation.id,
        incarnation=conversation.incarnation,
        revises=True,
    )


def orphaned_messages_job(scope: Scope, conversation_id: str, clock: Clock) -> Job:
    """Return the job that removes what is left of a conversation. It is the operator's: what is gone has no site, and
    goes from the index whatever becomes of its owner's permission.
    """
    return Job(
        org=scope.org,
        owner=scope.owner,
        actor=OPERATOR,
        purpose=Purpose.REMOVE_STRAYS,
        permission_version=0,
        created_at=clock(),
        conversation=conversation_id,
    )
