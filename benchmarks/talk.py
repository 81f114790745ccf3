"""A stored conversation in memory, for several benchmarks: the material of a turn, its prompt and its results."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from fencepost.conversations.domain.messages import Conversation, Message, MessageStatus, OpenTurn
from fencepost.documents.domain.sections import DocumentSet
from fencepost.documents.sqlite import FullTextRanker
from fencepost.identity.domain.sites import Fact, FactState, LayerBudgets, Site
from fencepost.kernel.aws.secrets import SecretKeys
from fencepost.memory.domain.summaries import (
    PROMPT_VERSION,
    Summary,
    content_hash,
    kept_lines,
    next_step,
    settled,
    summary_prompt,
    wanted_through,
)
from fencepost.model.domain import Prompt, Role
from fencepost.prompting.domain.fence import NONCE_CHARACTERS
from fencepost.turns.domain.turns import TurnMaterial, TurnRequest
from fencepost.turns.service.prompt_builder import Draft, PromptBuilder

MODEL = "claude-haiku-5-5"
SITE = Site(org="demo", id="docs", key="demo", budgets=LayerBudgets())
KEYS = SecretKeys("signing", api_key="any", read=lambda _name, _anew: "a signing secret")
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PROMPT_BUILDER = PromptBuilder(keys=KEYS, ranker=FullTextRanker(), budgets=SITE.budgets, unsigned="accept")
_NONCE = "0" * NONCE_CHARACTERS


@dataclass(slots=True)
class Talk:
    """One conversation. It is summarised as a job would do it: when messages have left the window."""

    documents: DocumentSet
    facts: tuple[Fact, ...] = ()
    messages: list[Message] = field(default_factory=list)
    summary: Summary | None = None

    @property
    def next_seq(self) -> int:
        """The number of the next message."""
        return len(self.messages) + 1

    def draft(self, question: str) -> Draft:
        """Return the draft of a question's turn."""
        opened = OpenTurn(message_id=f"m{self.next_seq}", seq=self.next_seq, holder="h", until=NOW)
        row = Conversation(
            id="c",
            site=SITE.id,
            incarnation="i",
            title="",
            created_at=NOW,
            updated_at=NOW,
            next_seq=self.next_seq,
            open_turn=opened,
        )
        recent = tuple(self.messages[-SITE.budgets.messages :])
        material = TurnMaterial(conversation=row, recent=recent, summary=self.summary, facts=self.facts)
        request = TurnRequest(message=question, message_id=opened.message_id, conversation_id=row.id)
        return PROMPT_BUILDER.draft_turn(request, material, self.documents, SITE)

    def settle(self, question: str, answer: str) -> None:
        """Store an exchange."""
        seq = self.next_seq
        asked = self._message(seq, Role.USER, question, MessageStatus.ANSWERED)
        self.messages += [asked, self._message(seq + 1, Role.ASSISTANT, answer, MessageStatus.COMPLETE, seq)]

    def summarise(self, complete: Callable[[Prompt], str]) -> None:
        """Extend the summary to the messages before the next window."""
        recent = self.messages[-SITE.budgets.messages :]
        through = wanted_through(recent, self.next_seq, SITE.budgets)
        while step := next_step(self.summary, settled(self.messages), through):
            lines = kept_lines(complete(summary_prompt(step, _NONCE)), step, SITE.budgets.summary_tokens)
            last = step.added[-1].seq
            self.summary = Summary(
                id=f"s{last}",
                lines=lines,
                first_seq=1,
                last_seq=last,
                content_hash=content_hash(self.messages[:last]),
                prompt_version=PROMPT_VERSION,
                model=MODEL,
                created_at=NOW,
            )

    def _message(
        self, seq: int, role: Role, content: str, status: MessageStatus, reply_to: int | None = None
    ) -> Message:
        name = f"m{seq}" if reply_to is None else f"m{reply_to}.1"
        return Message(id=name, seq=seq, role=role, content=content, created_at=NOW, status=status, reply_to=reply_to)


def pinned(*texts: str) -> tuple[Fact, ...]:
    """Return facts that a visitor pinned."""
    numbers = itertools.count(1)
    return tuple(
        Fact(id=f"f{next(numbers)}", text=text, state=FactState.PINNED, pinned_by="owner", created_at=NOW)
        for text in texts
    )
