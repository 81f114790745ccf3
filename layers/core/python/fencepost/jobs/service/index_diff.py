"""Compare an organisation's index entries with its rows, one page at a time.

Comparisons change nothing. They return jobs that repair the findings, which compare again under the lease of the
document or the conversation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import batched
from typing import Final

from fencepost.conversations.domain.messages import Conversation
from fencepost.conversations.ports import ConversationStore
from fencepost.documents.domain.documents import ChunkRow, Document, is_at_rest, is_settled
from fencepost.documents.domain.entries import fingerprint
from fencepost.documents.ports import DocumentStore
from fencepost.documents.service.document_jobs import document_job
from fencepost.identity.domain.scope import Action, Operator, Resource, Scope, authorize
from fencepost.jobs.domain.index_diff import (
    DiffProgress,
    DiffStep,
    Finding,
    IndexedRow,
    entry_finding,
    of_document_chunk,
    of_message_chunk,
    row_finding,
)
from fencepost.jobs.service.orphans import orphaned_messages_job, repair_messages_job
from fencepost.kernel.ports import Clock
from fencepost.memory.domain.chunk_rows import MessageChunkRow, words_of
from fencepost.memory.domain.message_chunks import is_remembered
from fencepost.memory.ports import MessageChunkStore, MessageHits, RememberedConversations
from fencepost.queue.domain import OPERATOR, Job, Purpose
from fencepost.retrieval.ports import Stored, VectorIndex

ENTRIES: Final = 100
"""Entries of a page of the first step."""
ROWS: Final = 200
"""Chunk rows of a page of the second step, and ids in a request to the index."""
CONVERSATIONS: Final = 10
"""Conversations of a page of the third step."""
_NEWEST_MESSAGES: Final = 2
"""Messages of a conversation whose chunks must exist: the job that writes them has chunked all earlier messages."""
_CACHED_CONVERSATIONS: Final = 500
"""Conversations whose rows are cached for other entries of the same page or the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffPage:
    """Result of the comparison of one page.

    Attributes:
        findings: number of findings of each kind.
        jobs: a repair for each finding.
        reads: number of reads of index and tables.
        then: where the comparison continues; None after the last page.
    """

    findings: Counter[Finding] = field(default_factory=Counter)
    jobs: tuple[Job, ...] = ()
    reads: int = 0
    then: DiffProgress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffSources:
    """The index and the stores that are compared.

    Attributes:
        model: name of the current embedding model.
    """

    index: VectorIndex
    corpus: DocumentStore
    conversations: ConversationStore
    parts: MessageChunkStore
    remembered: RememberedConversations
    messages: MessageHits
    model: str
    clock: Clock


type _Repair = tuple[Finding, Job]


@dataclass(frozen=True, slots=True)
class _ConversationRows:
    """A conversation and the rows of its message chunks, by chunk id; `row` is None if it does not exist."""

    row: Conversation | None
    chunks: Mapping[str, MessageChunkRow] = field(default_factory=dict)


class IndexDiff:
    """Compares pages of one organisation. Short-lived: it caches rows of conversations.

    All methods raise `FencepostError` with `conversations_unavailable`, or `IndexUnavailable`.

    Args:
        sources: index and stores.
        scope: the operator's, of the organisation.
    """

    def __init__(self, sources: DiffSources, scope: Scope) -> None:
        self._sources = sources
        self._scope = scope
        self._conversation: Callable[[str, str], _ConversationRows] = lru_cache(_CACHED_CONVERSATIONS)(self._read)
        self._reads = 0

    def compare_page(self, progress: DiffProgress) -> DiffPage:
        """Compare one page."""
        steps = {
            DiffStep.ENTRIES: self._compare_entries,
            DiffStep.DOCUMENTS: self._compare_document,
            DiffStep.CONVERSATIONS: self._compare_conversations,
        }
        before = self._reads
        page = steps[progress.step](progress)
        return replace(page, reads=self._reads - before)

    # First step: the row of each entry.

    def _compare_entries(self, progress: DiffProgress) -> DiffPage:
        page = self._counted().index.listed(self._scope, progress.after, ENTRIES)
        pairs = [(entry.parent, entry.chunk) for entry in page.items if not entry.owner]
        documents, rows = self._counted().corpus.hydrate(self._scope, pairs) if pairs else ({}, {})
        repairs = [
            self._repair_of_message_entry(entry)
            if entry.owner
            else self._repair_of_document_entry(
                entry, documents.get(entry.parent), rows.get((entry.parent, entry.chunk))
            )
            for entry in page.items
        ]
        return _diff_page(filter(None, repairs), _next(progress, page.next_key, DiffStep.DOCUMENTS))

    def _repair_of_document_entry(
        self, entry: Stored, document: Document | None, row: ChunkRow | None
    ) -> _Repair | None:
        if document and not is_settled(document, self._sources.clock()):
            return None
        resting = document is not None and is_at_rest(document)
        # Rows of a version that is being built do not name all of its entries yet.
        current = row if document and row and (not resting or row.is_part_of(document.version)) else None
        finding = self._entry_finding(entry, of_document_chunk(current) if current else None)
        if finding and (resting or finding is Finding.VECTOR_WITHOUT_ROW):
            return finding, self._document_job(entry.parent, resting=resting)
        return None

    def _repair_of_message_entry(self, entry: Stored) -> _Repair | None:
        conversation = self._conversation(entry.owner, entry.parent)
        if conversation.row is None:
            return Finding.VECTOR_WITHOUT_ROW, self._message_job(entry.owner, entry.parent, None)
        chunk = conversation.chunks.get(entry.chunk)
        finding = self._entry_finding(entry, of_message_chunk(chunk) if chunk else None)
        if finding is None or not is_settled(conversation.row, self._sources.clock()):
            return None
        return finding, self._message_job(entry.owner, entry.parent, conversation.row)

    def _entry_finding(self, entry: Stored, known: IndexedRow | None) -> Finding | None:
        return entry_finding(entry.stored_id, entry.version, entry.model, known)

    # Second and third step: the entries of each row.

    def _compare_document(self, progress: DiffProgress) -> DiffPage:
        page = self._counted().corpus.page(self._scope, after=progress.after, limit=1)
        then = _next(progress, page.next_key, DiffStep.CONVERSATIONS)
        if not page.items:
            return _diff_page([], then)
        (document,) = page.items
        if not is_at_rest(document) or not is_settled(document, self._sources.clock()):
            return _diff_page([], then)
        rows = self._counted().corpus.chunks(self._scope, document.id, after=progress.within, limit=ROWS)
        entry, job = fingerprint(document, self._sources.model), self._document_job(document.id, resting=True)
        findings = [Finding.WRONG_MODEL] if document.entry != entry and document.version else []
        visible = self._visible(of_document_chunk(row) for row in rows.items)
        for row in rows.items:
            if not row.is_part_of(document.version):
                findings.append(Finding.WRONG_VERSION)
            elif finding := row_finding(of_document_chunk(row), visible, self._sources.model):
                findings.append(finding)
            elif row.entry != entry:
                findings.append(Finding.WRONG_MODEL)
        here = then if rows.next_key is None else replace(progress, within=rows.next_key)
        return _diff_page([(finding, job) for finding in findings], here)

    def _compare_conversations(self, progress: DiffProgress) -> DiffPage:
        page = self._counted().remembered.conversations(self._scope, after=progress.after, limit=CONVERSATIONS)
        found = [(pair, self._conversation(*pair)) for pair in dict.fromkeys(page.items)]
        settled = [
            (owner, each.row, each.chunks)
            for (owner, _), each in found
            if each.row and is_settled(each.row, self._sources.clock())
        ]
        visible = self._visible(of_message_chunk(chunk) for _, _, chunks in settled for chunk in chunks.values())
        repairs: list[_Repair] = []
        for owner, row, chunks in settled:
            for chunk in chunks.values():
                finding = row_finding(of_message_chunk(chunk), visible, self._sources.model)
                finding = Finding.WRONG_VERSION if chunk.seq < row.kept_from else finding
                if finding:
                    repairs.append((finding, self._message_job(owner, row.id, row)))
        repairs += [
            (Finding.ROW_WITHOUT_VECTOR, self._message_job(owner, row.id, row))
            for owner, row, chunks in settled
            if self._lacks_newest_chunks(owner, row, chunks)
        ]
        return _diff_page(repairs, _next(progress, page.next_key, None))

    def _lacks_newest_chunks(self, owner: str, row: Conversation, chunks: Mapping[str, MessageChunkRow]) -> bool:
        """Tell whether the newest messages have no chunks: their job was lost, and no later turn has queued another.

        A conversation without any chunks lacks none, since its site may have the memory switched off.
        """
        known = {chunk.seq for chunk in chunks.values()}
        places = [(row.id, seq, 0) for seq in range(max(1, row.next_seq - _NEWEST_MESSAGES), row.next_seq)]
        missing = [place for place in places if place[1] not in known] if known else []
        if not missing:
            return False
        rows = self._counted().messages.hydrate(self._owner_scope(owner), missing)
        for place in missing:
            # None if the message has moved to S3.
            message = rows.messages.get(place[:2])
            if message is None or not is_remembered(message, row.kept_from):
                continue
            if place[:2] in rows.apart or words_of(message.content, 0, len(message.content)):
                return True
        return False

    def _visible(self, rows: Iterable[IndexedRow]) -> frozenset[str]:
        """Return the ids of those entries of rows that the index returns."""
        ids = [row.stored_id for row in rows if row.stored_id]
        batches = batched(ids, ROWS, strict=False)
        return frozenset(one for some in batches for one in self._counted().index.visible(self._scope, some))

    def _counted(self) -> DiffSources:
        """Return the sources for one read, and count it."""
        self._reads += 1
        return self._sources

    def _read(self, owner: str, conversation_id: str) -> _ConversationRows:
        scope = self._owner_scope(owner)
        row = self._counted().conversations.get(scope, conversation_id)
        rows = self._counted().parts.chunks(scope, conversation_id) if row else ()
        return _ConversationRows(row, {chunk.chunk: replace(chunk, vector=()) for chunk in rows})

    # Repairs.

    def _document_job(self, document_id: str, *, resting: bool) -> Job:
        purpose = Purpose.REPAIR if resting else Purpose.REMOVE_STRAYS
        return document_job(self._scope, document_id, purpose, self._sources.clock)

    def _message_job(self, owner: str, conversation_id: str, conversation: Conversation | None) -> Job:
        scope = self._owner_scope(owner)
        if conversation is None:
            return orphaned_messages_job(scope, conversation_id, self._sources.clock)
        # The operator is the actor: a repair does not depend on the owner's permission.
        return replace(repair_messages_job(scope, conversation, self._sources.clock), actor=OPERATOR)

    def _owner_scope(self, owner: str) -> Scope:
        org = self._scope.org
        return authorize(Operator(org), Action.READ, Resource(org, owner))


def _next(progress: DiffProgress, next_key: str | None, step: DiffStep | None) -> DiffProgress | None:
    """Return the next page of the same step, or the beginning of the next step after its last page."""
    if next_key is not None:
        return DiffProgress(step=progress.step, after=next_key)
    return DiffProgress(step=step) if step else None


def _diff_page(repairs: Iterable[_Repair], then: DiffProgress | None) -> DiffPage:
    repairs = list(repairs)
    return DiffPage(findings=Counter(one for one, _ in repairs), jobs=tuple(job for _, job in repairs), then=then)
