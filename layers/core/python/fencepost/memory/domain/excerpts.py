"""Excerpts of a prompt: pinned facts and the rolling summary, each in fences."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.identity.domain.sites import Fact, FactState
from fencepost.memory.domain.summaries import Summary, SummaryLine
from fencepost.model.domain import Source
from fencepost.prompting.domain.citations import without_markers
from fencepost.prompting.domain.fence import NONCE_CHARACTERS, NOTHING, Excerpt, block_tokens, content_hash, fence

_PLACEHOLDER = "0" * NONCE_CHARACTERS
_LONGEST_ID = 64
_VOUCHED_BY = {"owner": "pinned by the visitor", "site": "pinned by the site", "job": "drawn from earlier messages"}
FACT_FENCE_TOKENS = block_tokens(
    # The id consists of other characters than the nonce: text equal to the nonce is removed from a fence.
    fence(f"fact:{'f' * _LONGEST_ID}", max(_VOUCHED_BY.values(), key=len), "", _PLACEHOLDER)
)
"""Upper bound on the tokens that a pinned fact adds to a prompt besides its text."""


def pinned_facts(facts: Sequence[Fact], nonce: str) -> Excerpt:
    """Return all pinned facts, in one fence each. Their budget is enforced when they are written."""
    pinned = [fact for fact in facts if fact.state is FactState.PINNED]
    if not pinned:
        return NOTHING
    text = "".join(fence(f"fact:{fact.id}", _VOUCHED_BY[fact.pinned_by], fact.text, nonce) for fact in pinned)
    return Excerpt(text, tuple(Source(f"fact:{fact.id}", fact.text, "") for fact in pinned), block_tokens(text))


def summary_lines(summary: Summary | None, budget: int, nonce: str) -> Excerpt:
    """Return the newest lines that fit the budget, each with the ids of its sources, in one fence."""
    if summary is None:
        return NOTHING
    excerpts = (_summarised(summary, start, nonce) for start in range(len(summary.lines)))
    return next((excerpt for excerpt in excerpts if excerpt.tokens <= budget), NOTHING)


def facts_hash(facts: Sequence[Fact]) -> str:
    """Return the hash that the nonce of these facts is derived from. It covers everything a prompt shows of them."""
    return content_hash(pinned_facts(facts, _PLACEHOLDER).text)


def summary_hash(summary: Summary | None) -> str:
    """Return the hash that the nonce of the summary is derived from."""
    return content_hash(_summarised(summary, 0, _PLACEHOLDER).text if summary and summary.lines else "")


def _summarised(summary: Summary, start: int, nonce: str) -> Excerpt:
    lines = summary.lines[start:]
    text = fence(f"summary:{summary.id}", "summary of older messages", "".join(map(_line, lines)), nonce)
    whole = Source(f"summary:{summary.id}", lines[0].text, "")
    rests_on = {message: Source(f"msg:{message}", line.text, "") for line in lines for message in line.sources}
    return Excerpt(text, (whole, *rests_on.values()), block_tokens(text))


def _line(line: SummaryLine) -> str:
    # Only the markers added here may remain, none from the text.
    text = " ".join(without_markers(line.text).split())
    return f"- {text} {''.join(f'[msg:{message}]' for message in line.sources)}\n"
