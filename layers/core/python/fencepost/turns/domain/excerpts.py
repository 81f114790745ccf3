"""What a prompt shows of what others wrote, each piece in its fence: documentation, files, facts and the summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from fencepost.documents.domain.document_set import DocumentSet
from fencepost.model.domain.prompt import Source
from fencepost.model.domain.token_counts import BLOCK_TOKENS, count_tokens
from fencepost.prompting.domain.excerpt import NOTHING, Excerpt, block_tokens
from fencepost.prompting.domain.fence import fenced
from fencepost.prompting.domain.section import Section
from fencepost.turns.domain.system_prompt import NO_SECTIONS

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
        text = _without_end(text, excess)
    return None


def _without_end(text: str, tokens: int) -> str:
    """Return the text without as many of its last characters as count no more than so many tokens, at least one."""
    # A character has up to four bytes. Normal forms may be longer still: the caller tries again.
    return text[:-tokens] if text.isascii() else text[: -max(1, tokens // 4)]


def _joined(chosen: Sequence[tuple[Section, str]]) -> Excerpt:
    text = "".join(text for _, text in chosen)
    return Excerpt(text, tuple(Source(s.id, s.title, s.url, s.span) for s, _ in chosen), block_tokens(text))
