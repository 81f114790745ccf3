"""Job that keeps rolling summaries. It is paid from the same ledger as answers; turns do not wait for it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.conversations.ports import ConversationStore
from fencepost.conversations.service.conversations import transcript
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import Site
from fencepost.identity.service import SiteService
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ids import RANDOM_BITS, uuid7
from fencepost.kernel.ports import Clock
from fencepost.memory.domain.summaries import (
    PROMPT_VERSION,
    Summary,
    SummaryStep,
    carried_part,
    content_hash,
    kept_lines,
    next_step,
    settled,
    still_holds,
    summary_prompt,
    wanted_through,
)
from fencepost.memory.ports import MemoryStore
from fencepost.model.service import Ask
from fencepost.prompting.domain.fence import NONCE_CHARACTERS
from fencepost.queue.domain import Job
from fencepost.queue.ports import JobStore
from fencepost.queue.service import working

MAX_STEPS = 3
"""Most calls of one job, so that it ends well before the function's timeout. The next job continues."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryService:
    """Handler of `Purpose.SUMMARISE`."""

    conversations: ConversationStore
    memory: MemoryStore
    jobs: JobStore
    sites: SiteService
    ask: Ask
    clock: Clock

    def run(self, scope: Scope, job: Job) -> None:
        """Extend the summary over messages that no longer fit into a prompt; make it again if its range has changed.

        Raises:
            FencepostError: `conversations_unavailable`; `conversation_busy`; or a code of the ledger or the model.
        """
        conversation = self.conversations.get(scope, job.conversation) if job.conversation else None
        if conversation is None:
            return
        site = self.sites.of_conversation(scope.org, conversation.site)
        through = self._wanted(scope, conversation, site)
        if job.revises or through > conversation.summarised_through:
            with working(self.jobs, scope, job, self.clock) as begun:
                if begun is not None:
                    self._extend(scope, conversation, site, through)

    def _wanted(self, scope: Scope, conversation: Conversation, site: Site) -> int:
        page = self.conversations.messages(
            scope, conversation.id, after=None, limit=max(site.budgets.messages, 1), newest_first=True
        )
        # A late job does not shorten the range that a summary already covers.
        wanted = wanted_through(page.items[::-1], conversation.next_seq, site.budgets)
        return max(wanted, conversation.summarised_through)

    def _extend(self, scope: Scope, conversation: Conversation, site: Site, through: int) -> None:
        messages = settled(tuple(transcript(self.conversations, scope, conversation.id)))
        summary = self._holding(scope, conversation, messages)
        for _ in range(MAX_STEPS):
            step = next_step(summary, messages, through)
            if step is None:
                return
            summary = self._made(step, site)
            if not self.memory.write_summary(scope, conversation.id, conversation.incarnation, summary):
                return

    def _holding(self, scope: Scope, conversation: Conversation, messages: tuple[Message, ...]) -> Summary | None:
        summary = self.memory.summary(scope, conversation.id)
        if summary is None or still_holds(summary, messages):
            return summary
        # Before the model is called, so that no prompt shows an outdated summary meanwhile. Carried lines are stored
        # nowhere else, so they must survive a crash here.
        carried = carried_part(summary)
        self.memory.drop_summary(scope, conversation.id, carried)
        return carried

    def _made(self, step: SummaryStep, site: Site) -> Summary:
        text = self.ask(site, summary_prompt(step, secrets.token_hex(NONCE_CHARACTERS // 2)))
        lines = kept_lines(text, step, site.budgets.summary_tokens)
        if not lines:
            # The stored summary is kept. The next turn's job tries again.
            raise FencepostError(ErrorCode.PROVIDER_REFUSED)
        covered = (*step.covered, *step.added)
        now = self.clock()
        return Summary(
            id=uuid7(now, secrets.randbits(RANDOM_BITS)),
            lines=lines,
            first_seq=covered[0].seq,
            last_seq=covered[-1].seq,
            content_hash=content_hash(covered),
            prompt_version=PROMPT_VERSION,
            model=site.model,
            created_at=now,
        )
