"""A cheap filter for texts that plainly try to turn the assistant against its owner.

**This is not a boundary.** It saves the money of answering the obvious and says no to it; whoever wants to get past it
will. What the model may do is decided where it is done, never by what a text looks like.

People who ask about the product come first: a pattern that would stop their questions is too wide. So every pattern
wants the grammar of an order (a verb of disregarding, then instructions that came before), not words of the trade.

Linear time by construction: a view of the text is searched for literals, and only where one occurs is a pattern tried;
no pattern has an unbounded repeat, so each try reads a bounded number of characters. A test walks all patterns for it.
Places with the same surroundings are tried once, so that a word repeated a thousand times costs little more than one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fencepost.screening.domain.lexicon import Lexicon
from fencepost.screening.domain.rule import Category, Rule
from fencepost.screening.domain.table import RULES
from fencepost.screening.domain.views import screening_views

__all__ = ["Category", "compile_patterns", "screen"]

# How far a pattern may look from its start, back and ahead; the tests hold every pattern to it.
BEHIND, AHEAD = 16, 192


def _index() -> dict[str, list[Rule]]:
    index: dict[str, list[Rule]] = {}
    for rule in RULES:
        for start in rule.folded_starts:
            index.setdefault(start, []).append(rule)
    return index


_RULES_BY_START = _index()
_STARTS = Lexicon(_RULES_BY_START)


def screen(text: str) -> Category | None:
    """Return what the text tries, or None if it may pass. Takes the text as it arrived: hidden characters tell much."""
    return next((rule.category for view in screening_views(text) for rule in matching_rules(view)), None)


def compile_patterns() -> int:
    """Compile every pattern and return how many there are.

    Each pattern waits for the first text that could match it, to keep cold starts short. Where a snapshot of the
    process is taken (SnapStart), compile before it, so that no request waits.
    """
    return len([(rule.lead_expression, rule.rest_expression) for rule in RULES])


def matching_rules(view: str) -> Iterator[Rule]:
    """Yield the rules that a view matches, once for each place."""
    return (rule for rule, end in tries(view) if rule.rest_expression.match(view, end))


def tries(view: str) -> Iterator[tuple[Rule, int]]:
    """Yield each rule with the end of each start that follows its lead: all that is ever tried."""
    for start in _STARTS.occurring(view):
        places = _distinct_places(start, view)
        for rule in _RULES_BY_START[start]:
            match_lead = rule.lead_expression.match
            yield from ((rule, place + len(start)) for place in places if match_lead(view, place))


def _distinct_places(start: str, view: str) -> Collection[int]:
    """Return where a start occurs; of places with the same surroundings one is enough, so repeating costs little."""
    padded = "\0" * BEHIND + view
    places: dict[str, int] = {}
    surroundings, place = "", view.find(start)
    while place >= 0:
        if not surroundings or not padded.startswith(surroundings, place):
            surroundings = padded[place : place + BEHIND + AHEAD]
            places[surroundings] = place
        place = view.find(start, place + 1)
    return places.values()
