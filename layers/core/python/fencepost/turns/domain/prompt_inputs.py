"""What a prompt can be made of, before budgets choose."""

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
    """What a prompt can be made of. A stateless chat has a message, documents and exchanges alone.

    Attributes:
        documents: all sections of the site.
        product_prompt: the site's own, written by an admin; it follows the rules.
        facts: the site's, then the owner's.
        exchanges: what was said before the message, oldest first.
        begins: the number before which nothing was looked for; 1 where `exchanges` are all there are.
        attachments: what is written in files that came with the message.
        stored: the exchanges come from our own store: they are vouched for, and cached for the turns to come.
        passages: what an index found in documents, the best first; None where the site's own sections are ranked.
        memories: what it found in the owner's other conversations, the best first.
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
    """Return the layers of a chat that remembers nothing. Its history is the client's."""
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
    """Return the layers of a stored conversation's turn: what was said before its question, and nothing after it."""
    most, kept, seq = site.budgets.messages, _kept(material), _asked_at(material)
    recent = kept[-most:] if most else []
    summary = material.summary
    return PromptInputs(
        message=request.message,
        documents=documents,
        product_prompt=site.product_prompt,
        facts=(*site.pinned_facts, *material.facts),
        # A question that is answered anew may stand within the summary's range: its old answer would give itself away.
        summary=summary if summary and summary.last_seq < seq else None,
        exchanges=stored_exchanges(recent, before=seq),
        begins=recent[0].seq if recent else 1,
        attachments=tuple(Section(file.source, file.name, "", file.text) for file in attachments),
        stored=True,
        passages=None if recalled.passages is None else tuple(map(_section, recalled.passages)),
        memories=tuple(map(_section, recalled.memories)),
    )


def said_before(material: TurnMaterial) -> tuple[Exchange, ...]:
    """Return what was said in a conversation before the question of its open turn, as far as it was loaded."""
    return stored_exchanges(_kept(material), before=_asked_at(material))


def _kept(material: TurnMaterial) -> list[Message]:
    return [message for message in material.recent if message.seq >= material.conversation.kept_from]


def _asked_at(material: TurnMaterial) -> int:
    turn = material.conversation.open_turn
    return turn.seq if turn else material.conversation.next_seq


def _section(passage: Passage) -> Section:
    return Section(passage.id, passage.title, passage.url, passage.text, passage.span)


MAX_RETRIEVED_SECTIONS = 20
"""Sections beyond this rank seldom hold the answer and always cost money."""
_SITES_KEPT = 8
NOTICE = Excerpt(NO_SECTIONS, (), block_tokens(NO_SECTIONS))
"""Stands before the message where nothing was retrieved."""


def whole_documents(documents: DocumentSet, nonce: str, budget: int) -> Excerpt | None:
    """Return all sections, or None where they do not fit or there are none."""
    # A cheap lower bound first: most sites' files are far beyond the budget.
    if not documents.sections or sum(len(section.text) for section in documents.sections) > budget:
        return None
    excerpt = _all_sections(documents, nonce)
    return excerpt if excerpt.tokens <= budget else None


@lru_cache(maxsize=_SITES_KEPT)
def _all_sections(documents: DocumentSet, nonce: str) -> Excerpt:
    return _joined([(section, fenced(section, nonce)) for section in documents.sections])


def best_sections(ranked: Sequence[Section], budget: int, nonce: str) -> Excerpt:
    """Return the first sections that fit, in the order of their rank; one that is too long makes room for the next.

    Where none does, the excerpt is the notice that says so, whatever the budget.
    """
    chosen = _fitting(ranked[:MAX_RETRIEVED_SECTIONS], budget, nonce)
    return _joined(chosen) if chosen else NOTICE


def memories(ranked: Sequence[Section], budget: int, nonce: str) -> Excerpt:
    """Return the first messages of other conversations that fit, in the order of their rank, or nothing."""
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
    """Return the files within the budget, each with an even share of what is left; a longer one is cut at its end."""
    left = budget - BLOCK_TOKENS
    chosen: list[tuple[Section, str]] = []
    for number, file in enumerate(files):
        shown = _shortened(file, left // (len(files) - number), nonce)
        if shown:
            chosen.append((file, shown))
            left -= count_tokens(shown)
    return _joined(chosen) if chosen else NOTHING


def _shortened(file: Section, budget: int, nonce: str) -> str | None:
    """Return the file in its fence, cut until it fits; None where nothing of it does."""
    # No character counts less than one.
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
