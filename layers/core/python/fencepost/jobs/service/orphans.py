"""Orphans: entries of the vector index without a row. Searches and comparisons find them, jobs remove them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.conversations.domain.messages import Conversation
from fencepost.conversations.ports import ConversationStore
from fencepost.documents.domain.documents import DocumentState, is_left_over
from fencepost.documents.service.document_jobs import document_job, document_lease
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
    """Queues the removal of orphans that a search found: one job for each document or conversation."""

    queue: JobQueue
    conversations: ConversationStore
    clock: Clock

    def enqueue_removal(self, scope: Scope, kind: EntryKind, dead: Sequence[Hit]) -> None:
        """Queue the removal of hits without a row.

        Args:
            scope: of the search.
            kind: what the hits are chunks of.
            dead: the hits.

        Raises:
            FencepostError: `conversations_unavailable`; the store or the queue does not answer.
        """
        jobs: list[Job] = []
        for parent in dict.fromkeys(hit.parent for hit in dead):
            if kind != "message":
                jobs.append(document_job(scope, parent, Purpose.REMOVE_STRAYS, self.clock))
            elif conversation := self.conversations.get(scope, parent):
                jobs.append(repair_messages_job(scope, conversation, self.clock))
            else:
                jobs.append(orphaned_messages_job(scope, parent, self.clock))
        self.queue.send(jobs)


@dataclass(frozen=True, slots=True)
class OrphanRemoval:
    """Removes the orphans of a document, or all entries of a conversation that was removed."""

    rows: DocumentRows
    conversations: ConversationStore
    clock: Clock

    def run(self, scope: Scope, job: Job) -> None:
        """Remove the orphans of the job's document or conversation.

        A document's lease is held meanwhile, so that entries of a version that is being built are never removed.

        Raises:
            FencepostError: `document_busy`, `index_unavailable` or `conversations_unavailable`; a retry may succeed.
        """
        with index_errors():
            if job.conversation:
                self._remove_messages(scope, job.conversation)
                return
            document_id = job.document or ""
            with document_lease(self.rows.store, scope, document_id, self.clock):
                self.rows.remove_entries(scope, document_id, self._entry_ids(scope, document_id))

    def _remove_messages(self, scope: Scope, conversation_id: str) -> None:
        """Remove the owner's entries of a conversation, as long as the conversation does not exist.

        A page of entries is listed before its conversation is read, so an import that restores the conversation
        meanwhile loses no entries. Orphans among them are repaired after the next search or comparison that finds them.
        """
        index = self.rows.index
        for some in pages(lambda after: index.listed(scope, after, PAGE, parent=conversation_id, owner=scope.owner)):
            if self.conversations.get(scope, conversation_id) is not None:
                return
            self.rows.delete_entries(scope, [entry.stored_id for entry in some])

    def _entry_ids(self, scope: Scope, document_id: str) -> frozenset[str]:
        """Return the ids of the entries that a document's rows refer to."""
        document = self.rows.store.get(scope, document_id)
        if document is None or document.state is DocumentState.REMOVED:
            return frozenset()
        rows = (row for page in self.rows.pages(scope, document_id) for row in page if not is_left_over(row, document))
        return frozenset(one for row in rows for one in row.entry_ids)


def repair_messages_job(scope: Scope, conversation: Conversation, clock: Clock) -> Job:
    """Return the job that compares the messages, rows and entries of a conversation from its first message on."""
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
    """Return the job that removes all entries of a conversation that does not exist.

    Its actor is the operator: the site is unknown, and the removal does not depend on the owner's permission.
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
