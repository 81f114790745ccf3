"""Keep messages in the index, so that what somebody said is found in their other conversations.

A job compares a conversation's messages with the rows that say what the index holds of them, and mends the difference.
It may come twice, late or not at all: whatever it finds, what it leaves is what the messages say.
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
from fencepost.memory.domain.chunk_rows import BACK, MessageChunkRow
from fencepost.memory.domain.message_chunks import ChunkWindow, MessageChunk, SpanSplitter, chunks_of, entry_plan
from fencepost.memory.service.message_entries import MessageEntries, Renewal
from fencepost.queue.domain import Job
from fencepost.queue.ports import JobQueue, JobStore
from fencepost.queue.service import WorkProgress, working
from fencepost.retrieval.domain.ranking.fields import REACH
from fencepost.retrieval.ports import Embedder
from fencepost.retrieval.service.index_errors import index_errors

SLICE: Final = 128
"""New parts after which a job queues itself again: embedded on one processor they take a part of a job's time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberService:
    """The job `Purpose.REMEMBER`.

    Attributes:
        cut: cuts messages into parts.
        slice: see `SLICE`.
    """

    conversations: ConversationStore
    entries: MessageEntries
    embedder: Embedder
    jobs: JobStore
    queue: JobQueue
    sites: SiteService
    cut: SpanSplitter
    clock: Clock
    slice: int = SLICE

    def run(self, scope: Scope, job: Job) -> None:
        """Bring what the index holds of a conversation up to date.

        From a little before the last message that was looked at; where `job.revises` says so, from the first on, and
        then what the index holds is compared as well. On a site that remembers nothing, what there is goes.

        Raises:
            FencepostError: `conversation_busy`, another worker is at it; `index_unavailable`, `embedder_unavailable` or
                `conversations_unavailable`. Later may do.
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
        """Work on the next slice; False where more is left."""
        if job.revises or not progress.through:
            progress.through = 0
            self.entries.compare(scope, conversation)
            progress.through = conversation.kept_from - 1
        stretch = self._stretch(scope, conversation, progress.through)
        if not self._renew(scope, conversation, stretch, progress):
            return True
        reached = conversation.next_seq if stretch.ends else stretch.parts[-REACH].seq
        progress.through = reached - 1
        return stretch.ends

    def _renew(self, scope: Scope, conversation: Conversation, stretch: ChunkWindow, progress: WorkProgress) -> bool:
        """Mend the difference; False where the conversation is not what it was any more."""
        rows = self._rows(scope, conversation, stretch)
        plan = entry_plan(stretch, rows, self.embedder.model.name)
        self.entries.remove(scope, conversation.id, plan.vanishing)
        written = Renewal(
            entries=self.entries,
            embedder=self.embedder,
            scope=scope,
            conversation=conversation,
            rows=rows,
            progress=progress,
        ).renew(plan.due)
        if written is None:
            return False
        self.entries.settle(scope, conversation, [*plan.current, *written])
        return True

    def _rows(self, scope: Scope, conversation: Conversation, stretch: ChunkWindow) -> tuple[MessageChunkRow, ...]:
        first = 1 if stretch.begins else stretch.parts[0].seq
        last = None if stretch.ends else stretch.parts[-1].seq
        return self.entries.parts.parts(scope, conversation.id, first=first, last=last)

    def _stretch(self, scope: Scope, conversation: Conversation, through: int) -> ChunkWindow:
        """Read what may have changed, with all neighbours of it, and theirs."""
        back = 2 * BACK
        while True:
            stretch = self._read(scope, conversation, max(through - back, conversation.kept_from - 1), through)
            unchanged = [part for part in stretch.parts if part.seq <= through - BACK]
            if stretch.begins or len(unchanged) >= 2 * REACH:
                return stretch
            back *= 2

    def _read(self, scope: Scope, conversation: Conversation, after: int, through: int) -> ChunkWindow:
        parts, begins, new = list[MessageChunk](), after < conversation.kept_from, dict[int, int]()
        for message in transcript(self.conversations, scope, conversation.id, after):
            found = chunks_of(message, conversation.kept_from, self.cut)
            parts += found
            if found and message.seq > through:
                new[message.seq] = len(found)
            # A message is never cut between two slices, and at least one new one has all its neighbours.
            if len(new) > REACH and sum(new.values()) >= self.slice:
                return ChunkWindow(parts=parts, begins=begins, ends=False)
        return ChunkWindow(parts=parts, begins=begins, ends=True)
