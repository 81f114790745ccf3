"""Use cases of facts: an owner's changes, and the job that proposes facts."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice

from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.conversations.ports import ConversationStore
from fencepost.conversations.service.conversations import transcript
from fencepost.identity.domain.scope import Caller, Scope
from fencepost.identity.domain.sites import Fact, FactState, Site
from fencepost.identity.service import SiteService
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ids import RANDOM_BITS, uuid7
from fencepost.kernel.ports import Clock
from fencepost.memory.domain.fact_proposals import drafts, proposal_prompt, questions
from fencepost.memory.domain.facts import WantedFact, approved, owners_room, proposed, rewritten
from fencepost.memory.ports import MemoryStore
from fencepost.model.service import Ask
from fencepost.prompting.domain.fence import NONCE_CHARACTERS
from fencepost.queue.domain import Job
from fencepost.queue.ports import JobStore
from fencepost.queue.service import WorkProgress, working

MAX_LISTED = 500
"""Most of an owner's facts in one answer: all current ones, and the newest superseded ones."""

_MESSAGES_AT_ONCE = 40


@dataclass(frozen=True, slots=True)
class FactService:
    """Lists, pins, approves and deletes an owner's facts."""

    memory: MemoryStore
    sites: SiteService
    clock: Clock

    def listed(
        self, scope: Scope, caller: Caller, site_key: str | None = None, *, superseded: bool = False
    ) -> tuple[Fact, ...]:
        """Return the site's facts, then the owner's pinned and proposed facts, each oldest first.

        With `superseded`, superseded facts precede the current ones, in both groups.

        Raises:
            FencepostError: `site_unknown`; `conversations_unavailable`.
        """
        # Stored facts can be listed and removed even if the site is closed.
        site = self.sites.site_for(caller, site_key) if site_key else self.sites.default_site_of(caller)
        current = self.memory.facts(scope, FactState.PINNED, FactState.PROPOSED)
        old = self.memory.facts(scope, FactState.SUPERSEDED) if superseded else ()
        return (*(site.own_facts if superseded else site.pinned_facts), *(*old, *current)[-MAX_LISTED:])

    def rewrite(self, scope: Scope, caller: Caller, wanted: Sequence[WantedFact]) -> None:
        """Pin exactly these facts, except those that the site pins already.

        Raises:
            FencepostError: `site_unknown`, `facts_too_large` or `conversations_unavailable`.
        """
        now, site = self.clock(), self.sites.site_for(caller)
        said, room = {fact.text for fact in site.pinned_facts}, owners_room(site)
        own = [fact for fact in wanted if fact.text not in said]
        self.memory.change_facts(scope, lambda current: rewritten(current, own, _ids(now), now, room))

    def approve(self, scope: Scope, caller: Caller, fact_id: str, replaces: str | None = None) -> None:
        """Pin a proposal, replacing another fact if one is named.

        Raises:
            FencepostError: `not_found`, `site_unknown`, `facts_too_large` or `conversations_unavailable`.
        """
        room = owners_room(self.sites.site_for(caller))
        self.memory.change_facts(scope, lambda current: approved(current, fact_id, room, replaces))

    def delete(self, scope: Scope, fact_id: str) -> None:
        """Delete a fact in any state.

        Raises:
            FencepostError: `not_found` or `conversations_unavailable`.
        """
        if not self.memory.delete_fact(scope, fact_id):
            raise FencepostError(ErrorCode.NOT_FOUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactProposals:
    """Handler of `Purpose.PROPOSE_FACTS`: proposes facts from the visitor's new messages, if the site wants them."""

    conversations: ConversationStore
    memory: MemoryStore
    jobs: JobStore
    sites: SiteService
    ask: Ask
    clock: Clock

    def run(self, scope: Scope, job: Job) -> None:
        """Propose facts, each with the messages it was drawn from.

        Raises:
            FencepostError: `conversations_unavailable`; `conversation_busy`; or a code of the ledger or the model.
        """
        conversation = self.conversations.get(scope, job.conversation) if job.conversation else None
        if conversation is None:
            return
        site = self.sites.of_conversation(scope.org, conversation.site)
        if site.facts == "off":
            return
        with working(self.jobs, scope, job, self.clock) as progress:
            if progress is not None:
                self._propose(scope, job, conversation, site, progress)

    def _propose(self, scope: Scope, job: Job, conversation: Conversation, site: Site, progress: WorkProgress) -> None:
        messages = self._since(scope, conversation, progress.through)
        asked = questions(messages)
        if asked:
            known = self.memory.facts(scope, FactState.PINNED, FactState.PROPOSED)
            text = self.ask(site, proposal_prompt(asked, known, secrets.token_hex(NONCE_CHARACTERS // 2)))
            found = drafts(text, asked, known, conversation.incarnation)
            trusted, budget = site.facts == "trust", owners_room(site)
            change = partial(proposed, drafts=found, trusted=trusted, now=self.clock(), budget=budget)
            self.memory.change_facts(scope, change, job=job)
        progress.through = max([progress.through, *(message.seq for message in messages)])

    def _since(self, scope: Scope, conversation: Conversation, through: int) -> list[Message]:
        """Return the new messages that fit into one prompt. Older ones are skipped."""
        after = max(through, conversation.next_seq - 1 - _MESSAGES_AT_ONCE, 0)
        return list(islice(transcript(self.conversations, scope, conversation.id, after), _MESSAGES_AT_ONCE))


def _ids(now: datetime) -> Iterator[str]:
    while True:
        yield uuid7(now, secrets.randbits(RANDOM_BITS))
