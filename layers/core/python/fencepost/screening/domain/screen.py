"""`screen`: decide whether a text may pass.

Questions about the product come first: a pattern that would refuse one is too wide. Every pattern therefore requires
the grammar of an order (a verb of disregarding, then instructions that came before), not words of the trade.

Linear time by construction: a view of the text is searched for literals, and a pattern is tried only where one of its
literals occurs; no pattern has an unbounded repeat, so each try reads a bounded number of characters. A test checks all
patterns for it. Places with the same surroundings are tried once, so a word that is repeated a thousand times costs
little more than a single one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fencepost.screening.domain.lexicon import Lexicon
from fencepost.screening.domain.rules import RULES, Category, Rule
from fencepost.screening.domain.views import screening_views

# How far a pattern may look from its start, back and ahead; the tests hold every pattern to it.
BEHIND, AHEAD = 16, 192


_RULES_BY_START: dict[str, list[Rule]] = {}
for _rule in RULES:
    for _start in _rule.folded_starts:
        _RULES_BY_START.setdefault(_start, []).append(_rule)
_STARTS = Lexicon(_RULES_BY_START)


def screen(text: str) -> Category | None:
    """Return the category of attack that a text attempts, or None if it may pass.

    Args:
        text: as it arrived, because hidden characters are evidence.
    """
    return next((rule.category for view in screening_views(text) for rule in matching_rules(view)), None)


def compile_patterns() -> int:
    """Compile all patterns, and return their number.

    By default a pattern is compiled for the first text that could match it, which keeps cold starts short. A process
    that is snapshotted (SnapStart) compiles all of them before the snapshot, so that no request waits.
    """
    return len([(rule.lead_expression, rule.rest_expression) for rule in RULES])


def matching_rules(view: str) -> Iterator[Rule]:
    """Yield the rules that match a view, once for each place."""
    return (rule for rule, end in tries(view) if rule.rest_expression.match(view, end))


def tries(view: str) -> Iterator[tuple[Rule, int]]:
    """Yield each rule to try, with the end of each of its starts whose `lead` matches."""
    for start in _STARTS.occurring(view):
        places = _distinct_places(start, view)
        for rule in _RULES_BY_START[start]:
            match_lead = rule.lead_expression.match
            yield from ((rule, place + len(start)) for place in places if match_lead(view, place))


def _distinct_places(start: str, view: str) -> Collection[int]:
    """Return the positions of a start, one for each distinct surroundings."""
    padded = "\0" * BEHIND + view
    places: dict[str, int] = {}
    surroundings, place = "", view.find(start)
    while place >= 0:
        if not surroundings or not padded.startswith(surroundings, place):
            surroundings = padded[place : place + BEHIND + AHEAD]
            places[surroundings] = place
        place = view.find(start, place + 1)
    return places.values()
