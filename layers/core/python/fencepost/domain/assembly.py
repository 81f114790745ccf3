"""The prompt of a turn, within exact budgets and always in the same order.

Rules · the whole documentation where it fits · earlier turns · else the sections that match best · the message. What
stands before the earlier turns is the same for every visitor, byte by byte, so that the provider's cache hits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from fencepost.domain.conversation import Question, Role, Source, Turn
from fencepost.domain.documents import DocumentSet, Section
from fencepost.domain.errors import ErrorCode, FencepostError
from fencepost.domain.fence import fenced, harmless
from fencepost.domain.history import prune, turn_tokens
from fencepost.domain.prompt import Block, Prompt, PromptTurn
from fencepost.domain.system_prompt import NO_SECTIONS, SYSTEM_PROMPT
from fencepost.domain.tokens import BLOCK_TOKENS, REQUEST_TOKENS, TURN_TOKENS, count_tokens

MAX_RETRIEVED_SECTIONS = 20
"""Sections beyond this rank seldom hold the answer and always cost money."""
CONTEXT_TOKENS = 200_000
"""The context window of the smallest model in use: documents and earlier turns give way to stay inside it."""

Rank = Callable[[str, DocumentSet], Sequence[Section]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """Counted tokens that each layer may take; `context_tokens` bounds all of them and the answer."""

    documents_tokens: int
    history_tokens: int
    max_output_tokens: int
    context_tokens: int = CONTEXT_TOKENS


@dataclass(frozen=True, slots=True)
class Nonces:
    """`cached` is derived from a secret and the documents' hash, `fresh` drawn for this request alone."""

    cached: str
    fresh: str


def assemble(question: Question, documents: DocumentSet, rank: Rank, budgets: Budgets, nonces: Nonces) -> Prompt:
    """Put a prompt together. The same arguments give the same prompt.

    Args:
        question: validated; its history is as the policy for unsigned turns left it.
        documents: all sections of the site.
        rank: orders the sections by relevance to a text; called only where not all of them fit.
        budgets: what each layer may take.
        nonces: for the fences.

    Raises:
        FencepostError: `prompt_too_large` if the rules and the message alone leave no room for an answer.
    """
    message = harmless(question.message, nonces.cached, nonces.fresh)
    fixed = REQUEST_TOKENS + _tokens(SYSTEM_PROMPT) + TURN_TOKENS + _tokens(message)
    room = budgets.context_tokens - budgets.max_output_tokens - fixed
    if room < _tokens(NO_SECTIONS):
        raise FencepostError(ErrorCode.PROMPT_TOO_LARGE)
    whole = _whole(documents, nonces.cached, min(budgets.documents_tokens, room))
    # The notice that nothing matches is the least that the last turn holds besides the message.
    spare = room - (whole.tokens if whole else _tokens(NO_SECTIONS))
    history = prune(_harmless(question.history, nonces), min(budgets.history_tokens, spare))
    room -= sum(map(turn_tokens, history))
    shown = whole or _best(rank(_topic(question), documents), min(budgets.documents_tokens, room), nonces.fresh)
    return Prompt(
        system=_system(whole),
        turns=(*map(_prompt_turn, history), _last_turn(message, None if whole else shown)),
        sources=tuple(Source(section.id, section.title, section.url) for section in shown.sections),
        input_tokens=fixed + sum(map(turn_tokens, history)) + shown.tokens,
        max_output_tokens=budgets.max_output_tokens,
    )


@dataclass(frozen=True, slots=True)
class _Excerpt:
    """What the prompt shows of the documentation: one block of text, the sections in it, and its bound."""

    text: str
    sections: tuple[Section, ...]
    tokens: int


def _whole(documents: DocumentSet, nonce: str, budget: int) -> _Excerpt | None:
    """Return all sections if they fit. Whether they do depends on nothing that a visitor says, in a sane window."""
    # A cheap lower bound first: most sites' files are far beyond the budget.
    if not documents.sections or sum(len(section.text) for section in documents.sections) > budget:
        return None
    excerpt = _all_sections(documents, nonce)
    return excerpt if excerpt.tokens <= budget else None


@lru_cache(maxsize=1)
def _all_sections(documents: DocumentSet, nonce: str) -> _Excerpt:
    text = "".join(fenced(section, nonce) for section in documents.sections)
    return _Excerpt(text, documents.sections, _tokens(text))


def _best(ranked: Sequence[Section], budget: int, nonce: str) -> _Excerpt:
    """Return the first sections that fit, in the order of their rank; one that is too long makes room for the next."""
    left = budget - BLOCK_TOKENS
    chosen: list[tuple[Section, str]] = []
    for section in ranked[:MAX_RETRIEVED_SECTIONS]:
        text = fenced(section, nonce)
        if count_tokens(text) <= left:
            chosen.append((section, text))
            left -= count_tokens(text)
    if not chosen:
        return _Excerpt(NO_SECTIONS, (), _tokens(NO_SECTIONS))
    text = "".join(text for _, text in chosen)
    return _Excerpt(text, tuple(section for section, _ in chosen), _tokens(text))


def _topic(question: Question) -> str:
    """Return what to look for: the message, with the question before it, which a follow-up leaves out."""
    asked = [turn.content for turn in question.history if turn.role is Role.USER]
    return "\n".join([*asked[-1:], question.message])


def _harmless(history: Sequence[Turn], nonces: Nonces) -> Iterator[Turn]:
    return (replace(turn, content=harmless(turn.content, nonces.cached, nonces.fresh)) for turn in history)


def _system(whole: _Excerpt | None) -> tuple[Block, ...]:
    if whole:
        return Block(SYSTEM_PROMPT), Block(whole.text, cached=True)
    return (Block(SYSTEM_PROMPT, cached=True),)


def _prompt_turn(turn: Turn) -> PromptTurn:
    return PromptTurn(turn.role, (Block(turn.content),))


def _last_turn(message: str, retrieved: _Excerpt | None) -> PromptTurn:
    context = (Block(retrieved.text),) if retrieved else ()
    return PromptTurn(Role.USER, (*context, Block(message)))


def _tokens(text: str) -> int:
    return count_tokens(text) + BLOCK_TOKENS
