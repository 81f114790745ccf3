"""Job that keeps a conversation's messages in the index, so that their owner finds them in other conversations.

The job compares the messages with the stored chunk rows and corrects the differences. It may run twice, late or not at
all: each run leaves index and rows as the messages require.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from fencepost.conversations.domain.messages import Conversation
from fencepost.conversations.ports import ConversationStore
from fencepost.conversations.service.conversations import transcript
from fencepost.identity.domain.scope import Scope
from fencepost.identity.service import SiteService
from fencepost.kernel.ports import Clock
from fencepost.memory.domain.chunk_rows import BACK
from fencepost.memory.domain.message_chunks import ChunkWindow, MessageChunk, SpanSplitter, chunks_of, entry_plan
from fencepost.memory.service.message_entries import MessageEntries, Renewal
from fencepost.queue.domain import Job
from fencepost.queue.ports import JobQueue, JobStore
from fencepost.queue.service import WorkProgress, working
from fencepost.retrieval.domain.ranking.fields import REACH
from fencepost.retrieval.ports import Embedder
from fencepost.retrieval.service.index_errors import index_errors

SLICE: Final = 128
"""New chunks after which a job queues its own continuation: they take one processor part of the job time to embed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberService:
    """Handler of `Purpose.REMEMBER`.

    Attributes:
        chunker: splits messages into chunks.
        slice: see `SLICE`.
    """

    conversations: ConversationStore
    entries: MessageEntries
    embedder: Embedder
    jobs: JobStore
    queue: JobQueue
    sites: SiteService
    chunker: SpanSplitter
    clock: Clock
    slice: int = SLICE

    def run(self, scope: Scope, job: Job) -> None:
        """Update the entries of a conversation.

        Messages are read from a little before the last processed one. If `job.revises` is set, they are read from the
        first one, and the index is compared with the rows as well. On a site that remembers no messages, all entries
        are removed.

        Raises:
            FencepostError: `conversation_busy`, another worker holds the lease; `index_unavailable`,
                `embedder_unavailable` or `conversations_unavailable`. The job may be retried.
        """
        conversation = self.conversations.get(scope, job.conversation) if job.conversation else None
        if conversation is None:
            return
        remembers = self.sites.of_conversation(scope.org, conversation.site).budgets.memory_tokens > 0
        done = True
        with index_errors(), working(self.jobs, scope, job, self.clock) as progress:
            if progress and remembers:
                done = self._advance(scope, job, conversation, progress)
            elif progress:
                progress.through = 0
                forget = self.entries.forget_all if job.revises else self.entries.forget
                forget(scope, conversation.id)
        if not done:
            self.queue.send([replace(job, revises=False)])

    def _advance(self, scope: Scope, job: Job, conversation: Conversation, progress: WorkProgress) -> bool:
        """Update the entries of the next slice; False if messages are left."""
        if job.revises or not progress.through:
            progress.through = 0
            self.entries.compare(scope, conversation)
            progress.through = conversation.kept_from - 1
        window = self._window(scope, conversation, progress.through)
        if not self._renew(scope, conversation, window, progress):
            return True
        reached = conversation.next_seq if window.ends else window.chunks[-REACH].seq
        progress.through = reached - 1
        return window.ends

    def _window(self, scope: Scope, conversation: Conversation, through: int) -> ChunkWindow:
        """Read the chunks that may have changed, their neighbours, and the neighbours of those."""
        back = 2 * BACK
        while True:
            window = self._read(scope, conversation, max(through - back, conversation.kept_from - 1), through)
            unchanged = [chunk for chunk in window.chunks if chunk.seq <= through - BACK]
            if window.begins or len(unchanged) >= 2 * REACH:
                return window
            back *= 2

    def _read(self, scope: Scope, conversation: Conversation, after: int, through: int) -> ChunkWindow:
        chunks, begins, new = list[MessageChunk](), after < conversation.kept_from, dict[int, int]()
        for message in transcript(self.conversations, scope, conversation.id, after):
            found = chunks_of(message, conversation.kept_from, self.chunker)
            chunks += found
            if found and message.seq > through:
                new[message.seq] = len(found)
            # No message is divided between two slices, and at least one new message has all its neighbours.
            if len(new) > REACH and sum(new.values()) >= self.slice:
                return ChunkWindow(chunks=chunks, begins=begins, ends=False)
        return ChunkWindow(chunks=chunks, begins=begins, ends=True)

    def _renew(self, scope: Scope, conversation: Conversation, window: ChunkWindow, progress: WorkProgress) -> bool:
        """Correct the entries of a window; False if the conversation was erased or replaced in the meantime."""
        first = 1 if window.begins else window.chunks[0].seq
        last = None if window.ends else window.chunks[-1].seq
        rows = self.entries.chunks.chunks(scope, conversation.id, first=first, last=last)
        plan = entry_plan(window, rows, self.embedder.model.name)
        self.entries.remove(scope, conversation.id, plan.obsolete)
        renewal = Renewal(
            entries=self.entries,
            embedder=self.embedder,
            scope=scope,
            conversation=conversation,
            rows=rows,
            progress=progress,
        )
        written = renewal.renew(plan.pending)
        if written is None:
            return False
        self.entries.settle(scope, conversation, [*plan.current, *written])
        return True
