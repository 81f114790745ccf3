"""Compare an organisation's entries with its rows, a page at a time. Nothing is changed: what is found is repaired by
jobs, which look again under the lease of the document or the conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    of_chunk,
    of_part,
    row_finding,
)
from fencepost.jobs.service.orphans import orphaned_messages_job, repair_messages_job
from fencepost.kernel.ports import Clock
from fencepost.memory.domain.chunk_rows import MessageChunkRow, words_of
from fencepost.memory.domain.message_chunks import is_remembered
from fencepost.memory.ports import HitRows, MessageChunkPlace, MessageChunkStore, MessageHits, RememberedConversations
from fencepost.queue.domain import OPERATOR, Job, Purpose
from fencepost.retrieval.ports import Stored, VectorIndex

ENTRIES: Final = 100
"""Entries that are looked at together."""
ROWS: Final = 200
"""Rows of chunks that are looked at together."""
CONVERSATIONS: Final = 10
"""Conversations that are looked at together."""
_LAST: Final = 2
"""Messages of a conversation that are looked for: a job that comes as far has looked at all before them."""
_REMEMBERED: Final = 500
"""Conversations whose rows are remembered while a page, or the next, comes back to them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffPage:
    """What one page told.

    Attributes:
        jobs: what repairs it, for each finding.
        reads: how often index and tables were asked.
        then: where to go on; None where that was the last page.
    """

    findings: Counter[Finding] = field(default_factory=Counter)
    jobs: tuple[Job, ...] = ()
    reads: int = 0
    then: DiffProgress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffSources:
    """What is compared.

    Attributes:
        model: name of the embedding model at present.
    """

    index: VectorIndex
    corpus: DocumentStore
    conversations: ConversationStore
    parts: MessageChunkStore
    remembered: RememberedConversations
    messages: MessageHits
    model: str
    clock: Clock


type _Found = tuple[Finding, Job] | None


@dataclass(frozen=True, slots=True)
class _Talk:
    """A conversation, and what its rows know of its entries, by chunk."""

    row: Conversation | None
    parts: Mapping[str, MessageChunkRow] = field(default_factory=dict)


class IndexDiff:
    """Looks at the pages of one organisation. Rows of conversations are remembered for as long as it lives: not long.

    All methods raise `FencepostError` with `conversations_unavailable`, or `IndexUnavailable`.

    Args:
        sides: what is compared.
        scope: of the operator, in the organisation.
    """

    def __init__(self, sides: DiffSources, scope: Scope) -> None:
        self._sides = sides
        self._scope = scope
        self._talk: Callable[[str, str], _Talk] = lru_cache(_REMEMBERED)(self._read)
        self._reads = 0

    def look(self, progress: DiffProgress) -> DiffPage:
        """Look at one page."""
        steps = {
            DiffStep.ENTRIES: self._entries,
            DiffStep.DOCUMENTS: self._documents,
            DiffStep.CONVERSATIONS: self._conversations,
        }
        before = self._reads
        looked = steps[progress.step](progress)
        return replace(looked, reads=self._reads - before)

    # From the entries to their rows.

    def _entries(self, progress: DiffProgress) -> DiffPage:
        page = self._ask().index.listed(self._scope, progress.after, ENTRIES)
        pairs = [(entry.parent, entry.chunk) for entry in page.items if not entry.owner]
        documents, rows = self._ask().corpus.hydrate(self._scope, pairs) if pairs else ({}, {})
        found = [
            self._of_message(entry)
            if entry.owner
            else self._of_document(entry, documents.get(entry.parent), rows.get((entry.parent, entry.chunk)))
            for entry in page.items
        ]
        return _looked(found, _after(progress, page.next_key, DiffStep.DOCUMENTS))

    def _of_document(self, entry: Stored, document: Document | None, row: ChunkRow | None) -> _Found:
        if document and not is_settled(document, self._sides.clock()):
            return None
        resting = document is not None and is_at_rest(document)
        # What is being built, its builder has not told of all that it has written.
        current = row if document and row and (not resting or row.is_part_of(document.version)) else None
        finding = _finding(entry, of_chunk(current) if current else None)
        if finding and (resting or finding is Finding.VECTOR_WITHOUT_ROW):
            return finding, self._document_job(entry.parent, resting=resting)
        return None

    def _of_message(self, entry: Stored) -> _Found:
        talk = self._talk(entry.owner, entry.parent)
        if talk.row is None:
            return Finding.VECTOR_WITHOUT_ROW, self._message_job(entry.owner, entry.parent, None)
        part = talk.parts.get(entry.chunk)
        finding = _finding(entry, of_part(part) if part else None)
        if finding is None or not is_settled(talk.row, self._sides.clock()):
            return None
        return finding, self._message_job(entry.owner, entry.parent, talk.row)

    # From the rows to their entries.

    def _documents(self, progress: DiffProgress) -> DiffPage:
        page = self._ask().corpus.page(self._scope, after=progress.after, limit=1)
        then = _after(progress, page.next_key, DiffStep.CONVERSATIONS)
        if not page.items:
            return _looked([], then)
        (document,) = page.items
        if not is_at_rest(document) or not is_settled(document, self._sides.clock()):
            return _looked([], then)
        rows = self._ask().corpus.chunks(self._scope, document.id, after=progress.within, limit=ROWS)
        entry, job = fingerprint(document, self._sides.model), self._document_job(document.id, resting=True)
        outdated = [Finding.WRONG_MODEL] if document.entry != entry and document.version else []
        visible = self._visible(of_chunk(row) for row in rows.items)
        findings = [*outdated, *(self._of_chunk(row, document, entry, visible) for row in rows.items)]
        here = then if rows.next_key is None else replace(progress, within=rows.next_key)
        return _looked([(finding, job) for finding in findings if finding], here)

    def _of_chunk(self, row: ChunkRow, document: Document, entry: str, visible: frozenset[str]) -> Finding | None:
        if not row.is_part_of(document.version):
            return Finding.WRONG_VERSION
        finding = row_finding(of_chunk(row), visible, self._sides.model)
        return finding or (Finding.WRONG_MODEL if row.entry != entry else None)

    def _conversations(self, progress: DiffProgress) -> DiffPage:
        page = self._ask().remembered.conversations(self._scope, after=progress.after, limit=CONVERSATIONS)
        talks = {pair: self._talk(*pair) for pair in page.items}
        settled = {pair: talk for pair, talk in talks.items() if talk.row and is_settled(talk.row, self._sides.clock())}
        visible = self._visible(of_part(part) for talk in settled.values() for part in talk.parts.values())
        found = [
            (finding, self._message_job(*pair, talk.row))
            for pair, talk in settled.items()
            for part in talk.parts.values()
            if talk.row and (finding := self._of_part(part, talk.row, visible))
        ]
        found += [
            (Finding.ROW_WITHOUT_VECTOR, self._message_job(*pair, talk.row))
            for pair, talk in settled.items()
            if talk.row and self._is_behind(*pair, talk.row, talk.parts)
        ]
        return _looked(found, _after(progress, page.next_key, None))

    def _is_behind(
        self, owner: str, conversation_id: str, row: Conversation, parts: Mapping[str, MessageChunkRow]
    ) -> bool:
        """Tell whether the last messages have no parts: their job was lost, and no turn has brought another.

        Where nothing of a conversation has parts, its site may remember nothing.
        """
        known = {part.seq for part in parts.values()}
        places = [(conversation_id, seq, 0) for seq in range(max(1, row.next_seq - _LAST), row.next_seq)]
        missing = [place for place in places if place[1] not in known] if known else []
        if not missing:
            return False
        rows = self._ask().messages.hydrate(self._owner(owner), missing)
        return any(_is_to_be_found(place, rows, row.kept_from) for place in missing)

    def _of_part(self, part: MessageChunkRow, conversation: Conversation, visible: frozenset[str]) -> Finding | None:
        if part.seq < conversation.kept_from:
            return Finding.WRONG_VERSION
        return row_finding(of_part(part), visible, self._sides.model)

    def _visible(self, rows: Iterable[IndexedRow]) -> frozenset[str]:
        ids = [row.stored_id for row in rows if row.stored_id]
        some = batched(ids, ROWS, strict=False)
        return frozenset(one for part in some for one in self._ask().index.visible(self._scope, part))

    def _ask(self) -> DiffSources:
        """Return what is compared, to be asked once."""
        self._reads += 1
        return self._sides

    def _read(self, owner: str, conversation_id: str) -> _Talk:
        scope = self._owner(owner)
        row = self._ask().conversations.get(scope, conversation_id)
        rows = self._ask().parts.parts(scope, conversation_id) if row else ()
        return _Talk(row, {part.chunk: replace(part, vector=()) for part in rows})

    # What repairs it.

    def _document_job(self, document_id: str, *, resting: bool) -> Job:
        purpose = Purpose.REPAIR if resting else Purpose.REMOVE_STRAYS
        return document_job(self._scope, document_id, purpose, self._sides.clock)

    def _message_job(self, owner: str, conversation_id: str, conversation: Conversation | None) -> Job:
        scope = self._owner(owner)
        if conversation is None:
            return orphaned_messages_job(scope, conversation_id, self._sides.clock)
        # The operator's: it is to be right whatever becomes of the owner's permission.
        return replace(repair_messages_job(scope, conversation, self._sides.clock), actor=OPERATOR)

    def _owner(self, owner: str) -> Scope:
        org = self._scope.org
        return authorize(Operator(org), Action.READ, Resource(org, owner))


def _is_to_be_found(place: MessageChunkPlace, rows: HitRows, kept_from: int) -> bool:
    """Tell whether a message has words for the index. Of one that has moved to S3 nothing is told here."""
    message = rows.messages.get(place[:2])
    if message is None or not is_remembered(message, kept_from):
        return False
    return place[:2] in rows.apart or bool(words_of(message.content, 0, len(message.content)))


def _finding(entry: Stored, known: IndexedRow | None) -> Finding | None:
    return entry_finding(entry.stored_id, entry.version, entry.model, known)


def _after(progress: DiffProgress, next_key: str | None, step: DiffStep | None) -> DiffProgress | None:
    """Return where to go on: on the next page, or where there is none at the beginning of the next step."""
    if next_key is not None:
        return DiffProgress(step=progress.step, after=next_key)
    return DiffProgress(step=step) if step else None


def _looked(found: Sequence[_Found], then: DiffProgress | None) -> DiffPage:
    there = [one for one in found if one]
    return DiffPage(findings=Counter(finding for finding, _ in there), jobs=tuple(job for _, job in there), then=then)
