"""What a prompt shows of what others wrote, each piece in its fence: documentation, files, facts and the summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from fencepost.domain.citations import without_markers
from fencepost.domain.conversation import Source
from fencepost.domain.documents import DocumentSet, Section
from fencepost.domain.fence import NONCE_CHARACTERS, content_hash, fence, fenced
from fencepost.domain.memory import Fact, FactState, Summary, SummaryLine
from fencepost.domain.system_prompt import NO_SECTIONS
from fencepost.domain.tokens import BLOCK_TOKENS, count_tokens

MAX_RETRIEVED_SECTIONS = 20
"""Sections beyond this rank seldom hold the answer and always cost money."""

_SITES_KEPT = 8
_PLACEHOLDER = "0" * NONCE_CHARACTERS
_LONGEST_ID = 64
_VOUCHED_BY = {"owner": "pinned by the visitor", "site": "pinned by the site", "job": "drawn from earlier messages"}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One block of a prompt: its text, what an answer may cite of it, and a bound on its tokens, framing included."""

    text: str = ""
    sources: tuple[Source, ...] = ()
    tokens: int = 0


NOTHING = Excerpt()


def block_tokens(text: str) -> int:
    """Return an upper bound on what the text adds to a prompt as a block of its own."""
    return count_tokens(text) + BLOCK_TOKENS


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


FACT_FENCE_TOKENS = block_tokens(
    # Of other characters than the nonce, which would be taken out of it.
    fence(f"fact:{'f' * _LONGEST_ID}", max(_VOUCHED_BY.values(), key=len), "", _PLACEHOLDER)
)
"""An upper bound on what a pinned fact takes of a prompt besides its text."""


def pinned_facts(facts: Sequence[Fact], nonce: str) -> Excerpt:
    """Return all facts that are pinned. They have no budget here: they are refused where they are written."""
    pinned = [fact for fact in facts if fact.state is FactState.PINNED]
    if not pinned:
        return NOTHING
    text = "".join(fence(f"fact:{fact.id}", _VOUCHED_BY[fact.pinned_by], fact.text, nonce) for fact in pinned)
    return Excerpt(text, tuple(Source(f"fact:{fact.id}", fact.text, "") for fact in pinned), block_tokens(text))


def summary_lines(summary: Summary | None, budget: int, nonce: str) -> Excerpt:
    """Return the newest lines that fit, each with the ids of the messages that it rests on, in one fence."""
    if summary is None:
        return NOTHING
    excerpts = (_summarised(summary, start, nonce) for start in range(len(summary.lines)))
    return next((excerpt for excerpt in excerpts if excerpt.tokens <= budget), NOTHING)


def facts_hash(facts: Sequence[Fact]) -> str:
    """Return what the nonce of these facts is derived from: it changes with whatever a prompt shows of them."""
    return content_hash(pinned_facts(facts, _PLACEHOLDER).text)


def summary_hash(summary: Summary | None) -> str:
    """Return what the nonce of the summary is derived from."""
    return content_hash(_summarised(summary, 0, _PLACEHOLDER).text if summary and summary.lines else "")


def _summarised(summary: Summary, start: int, nonce: str) -> Excerpt:
    lines = summary.lines[start:]
    text = fence(f"summary:{summary.id}", "summary of older messages", "".join(map(_line, lines)), nonce)
    whole = Source(f"summary:{summary.id}", lines[0].text, "")
    rests_on = {message: Source(f"msg:{message}", line.text, "") for line in lines for message in line.sources}
    return Excerpt(text, (whole, *rests_on.values()), block_tokens(text))


def _line(line: SummaryLine) -> str:
    # Its markers are ours alone: none may come from the text.
    text = " ".join(without_markers(line.text).split())
    return f"- {text} {''.join(f'[msg:{message}]' for message in line.sources)}\n"


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
