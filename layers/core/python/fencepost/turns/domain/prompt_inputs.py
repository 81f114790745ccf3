"""Inputs of prompts: all that a prompt may contain, and the excerpts of it that fit a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from fencepost.conversations.domain.attachments import AttachedText
from fencepost.conversations.domain.messages import Message, Question
from fencepost.documents.domain.sections import DocumentSet
from fencepost.identity.domain.sites import Fact, Site
from fencepost.memory.domain.summaries import Summary
from fencepost.model.domain import BLOCK_TOKENS, Source, count_tokens
from fencepost.prompting.domain.fence import NOTHING, Excerpt, Section, block_tokens, fenced
from fencepost.prompting.domain.history import Exchange, client_exchanges, stored_exchanges
from fencepost.retrieval.domain.search import NOTHING_RECALLED, Passage, Recalled
from fencepost.turns.domain.system_prompt import NO_SECTIONS
from fencepost.turns.domain.turns import TurnMaterial, TurnRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptInputs:
    """Inputs of a prompt, before budgets are applied. A stateless chat has a message, documents and exchanges only.

    Attributes:
        documents: all sections of the site.
        product_prompt: the site's text about its product, written by an admin; it follows the rules.
        facts: pinned facts of the site, then of the owner.
        exchanges: earlier exchanges, oldest first.
        begins: number of the first message that was loaded; 1 if `exchanges` are all exchanges of the conversation.
        attachments: texts of the files that came with the message.
        stored: the exchanges come from the conversation store. So they are trusted, and cached for the following turns.
        passages: passages of documents that an index found, best first; None if the site's sections are ranked instead.
        memories: messages of the owner's other conversations that an index found, best first.
    """

    message: str
    documents: DocumentSet
    product_prompt: str = ""
    facts: tuple[Fact, ...] = ()
    summary: Summary | None = None
    exchanges: tuple[Exchange, ...] = ()
    begins: int = 1
    attachments: tuple[Section, ...] = ()
    stored: bool = False
    passages: tuple[Section, ...] | None = None
    memories: tuple[Section, ...] = ()


def stateless_inputs(question: Question, documents: DocumentSet) -> PromptInputs:
    """Return the prompt inputs of a stateless chat. Its exchanges are those of the client's history."""
    return PromptInputs(message=question.message, documents=documents, exchanges=client_exchanges(question.history))


def turn_inputs(
    request: TurnRequest,
    material: TurnMaterial,
    documents: DocumentSet,
    site: Site,
    attachments: Sequence[AttachedText] = (),
    *,
    recalled: Recalled = NOTHING_RECALLED,
) -> PromptInputs:
    """Return the prompt inputs of a stored conversation's turn. Messages after its question are left out."""
    most, kept, seq = site.budgets.messages, _kept(material), _asked_at(material)
    recent = kept[-most:] if most else []
    summary = material.summary
    return PromptInputs(
        message=request.message,
        documents=documents,
        product_prompt=site.product_prompt,
        facts=(*site.pinned_facts, *material.facts),
        # The summary may cover a question whose answer is regenerated, and so contain the old answer.
        summary=summary if summary and summary.last_seq < seq else None,
        exchanges=stored_exchanges(recent, before=seq),
        begins=recent[0].seq if recent else 1,
        attachments=tuple(Section(file.source, file.name, "", file.text) for file in attachments),
        stored=True,
        passages=None if recalled.passages is None else tuple(map(_section, recalled.passages)),
        memories=tuple(map(_section, recalled.memories)),
    )


def said_before(material: TurnMaterial) -> tuple[Exchange, ...]:
    """Return the loaded exchanges of a conversation before the question of its open turn."""
    return stored_exchanges(_kept(material), before=_asked_at(material))


def _kept(material: TurnMaterial) -> list[Message]:
    return [message for message in material.recent if message.seq >= material.conversation.kept_from]


def _asked_at(material: TurnMaterial) -> int:
    turn = material.conversation.open_turn
    return turn.seq if turn else material.conversation.next_seq


def _section(passage: Passage) -> Section:
    return Section(passage.id, passage.title, passage.url, passage.text, passage.span)


MAX_RETRIEVED_SECTIONS = 20
"""Limit of retrieved sections: those of lower rank seldom contain the answer, but each one adds to the cost."""
_SITES_KEPT = 8
NOTICE = Excerpt(NO_SECTIONS, (), block_tokens(NO_SECTIONS))
"""Precedes the message if no section was retrieved."""


def whole_documents(documents: DocumentSet, nonce: str, budget: int) -> Excerpt | None:
    """Return an excerpt of all sections; None if they exceed the budget or there are none."""
    # The number of characters is a cheap lower bound: the documents of most sites are far beyond the budget.
    if not documents.sections or sum(len(section.text) for section in documents.sections) > budget:
        return None
    excerpt = _all_sections(documents, nonce)
    return excerpt if excerpt.tokens <= budget else None


@lru_cache(maxsize=_SITES_KEPT)
def _all_sections(documents: DocumentSet, nonce: str) -> Excerpt:
    return _joined([(section, fenced(section, nonce)) for section in documents.sections])


def best_sections(ranked: Sequence[Section], budget: int, nonce: str) -> Excerpt:
    """Return an excerpt of the highest-ranked sections that fit the budget. Sections that do not fit are skipped.

    If none fits, the excerpt is `NOTICE`, even if that exceeds the budget.
    """
    chosen = _fitting(ranked[:MAX_RETRIEVED_SECTIONS], budget, nonce)
    return _joined(chosen) if chosen else NOTICE


def memories(ranked: Sequence[Section], budget: int, nonce: str) -> Excerpt:
    """Return an excerpt of the highest-ranked messages of other conversations that fit; `NOTHING` if none does."""
    chosen = _fitting(ranked, budget, nonce)
    return _joined(chosen) if chosen else NOTHING


def _fitting(ranked: Sequence[Section], budget: int, nonce: str) -> list[tuple[Section, str]]:
    left = budget - BLOCK_TOKENS
    chosen: list[tuple[Section, str]] = []
    for section in ranked:
        text = fenced(section, nonce)
        if count_tokens(text) <= left:
            chosen.append((section, text))
            left -= count_tokens(text)
    return chosen


def attached_files(files: Sequence[Section], budget: int, nonce: str) -> Excerpt:
    """Return an excerpt of the files. Each may use an even share of the remaining budget, and is truncated to it."""
    left = budget - BLOCK_TOKENS
    chosen: list[tuple[Section, str]] = []
    for number, file in enumerate(files):
        shown = _shortened(file, left // (len(files) - number), nonce)
        if shown:
            chosen.append((file, shown))
            left -= count_tokens(shown)
    return _joined(chosen) if chosen else NOTHING


def _shortened(file: Section, budget: int, nonce: str) -> str | None:
    """Return the file in a fence, truncated to the budget; None if no text of it fits."""
    # Each character counts as one token at least.
    text = file.text[: max(0, budget)]
    while text:
        shown = fenced(replace(file, text=text), nonce)
        excess = count_tokens(shown) - budget
        if excess <= 0:
            return shown
        # A character has up to four bytes. Normal forms may be longer still: the next pass shortens the text further.
        text = text[:-excess] if text.isascii() else text[: -max(1, excess // 4)]
    return None


def _joined(chosen: Sequence[tuple[Section, str]]) -> Excerpt:
    text = "".join(text for _, text in chosen)
    return Excerpt(text, tuple(Source(s.id, s.title, s.url, s.span) for s, _ in chosen), block_tokens(text))
