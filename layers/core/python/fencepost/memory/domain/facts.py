"""Changes of facts: pinned by owners and sites, proposed by jobs, superseded by newer ones.

Each function computes a change from the current facts; the store writes it all or not at all. A person who pins a fact
vouches for it, so a job never replaces a fact that a person has pinned.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count

from fencepost.identity.domain.sites import Fact, FactState, Site
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.text import fold, squeeze
from fencepost.memory.domain.excerpts import FACT_FENCE_TOKENS
from fencepost.model.domain import count_tokens

MAX_PINNED = 32
"""Most pinned facts of one owner, or of one site. Changing all of an owner's takes 96 writes; DynamoDB takes 100 in a
transaction.
"""
MAX_SITE_SUPERSEDED = 32
"""Most superseded facts that a site keeps. They are stored in the site's row, which every turn reads."""
MAX_PROPOSED = 32
MAX_CHARACTERS = 500
"""Unicode code points of one fact, counted after trimming."""
MAX_WRITTEN = 96
"""Most writes of one change: one for each fact, and another for each fact whose state changes."""

_ID_CHARACTERS = 32


@dataclass(frozen=True, slots=True)
class WantedFact:
    """A fact written by its owner, normalised and trimmed. `id` names the fact that it keeps or replaces."""

    text: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ProposedFact:
    """A fact that a job drew from messages. `replaces` is the id of a fact that it contradicts."""

    id: str
    text: str
    provenance: tuple[str, ...]
    replaces: str | None = None


def fact_tokens(text: str) -> int:
    """Return an upper bound on the tokens that a fact adds to a prompt, including its fence."""
    return count_tokens(text) + FACT_FENCE_TOKENS


def owners_room(site: Site) -> int:
    """Return the counted tokens left for an owner's pinned facts beside those of the site."""
    return max(0, site.budgets.facts_tokens - _total(site.pinned_facts))


def pinned_by_site(site: Site, texts: Sequence[str], now: datetime, budget: int) -> tuple[Fact, ...]:
    """Return all facts of a site, superseded ones first, after exactly these texts are pinned.

    An id is a hash of site and text: a text that is pinned again, or by two admins at once, is the same fact.

    Args:
        site: the site with its current facts.
        texts: normalised and trimmed.
        now: time of the change.
        budget: counted tokens for the site's pinned facts.

    Raises:
        FencepostError: `facts_too_large`; more than `MAX_PINNED` or more than `budget` counted tokens.
    """
    known = {fact.id: fact for fact in site.own_facts}
    pinned = dict[str, Fact]()
    for text in texts:
        name = hashlib.sha256("\0".join((site.org, site.id, text)).encode()).hexdigest()[:_ID_CHARACTERS]
        pinned[name] = Fact(id=name, text=text, state=FactState.PINNED, pinned_by="site", created_at=now)
    _require_room(list(pinned.values()), budget)
    kept = [replace(known.get(fact.id, fact), state=FactState.PINNED) for fact in pinned.values()]
    old = [replace(fact, state=FactState.SUPERSEDED) for fact in site.own_facts if fact.id not in pinned]
    return (*old[-MAX_SITE_SUPERSEDED:], *kept)


def rewritten(
    current: Sequence[Fact], wanted: Sequence[WantedFact], new_ids: Iterator[str], now: datetime, budget: int
) -> list[Fact]:
    """Return the facts to write so that exactly the wanted facts are pinned.

    Pinned facts that are not wanted are superseded. A fact whose id is given with another text is superseded by the new
    fact. A proposal with a wanted text is approved and keeps its provenance.

    Raises:
        FencepostError: `facts_too_large`; more than `MAX_PINNED` or more than `budget` counted tokens.
    """
    book = _Book(current)
    # Of several wanted facts with the same text, the first counts, in the place of the last.
    distinct = list({one.text: one for one in reversed(wanted)}.values())[::-1]
    # One microsecond apart, so that facts are listed in the order in which they were written.
    moments = (now + timedelta(microseconds=place) for place in count())
    kept = [book.place(fact, new_ids, moment) for fact, moment in zip(distinct, moments, strict=False)]
    _require_room(kept, budget)
    kept_ids = {fact.id for fact in kept}
    dropped = [
        replace(fact, state=FactState.SUPERSEDED, superseded_by=book.successors.get(fact.id))
        for fact in current
        if fact.id not in kept_ids and (_is_pinned(fact) or fact.id in book.successors)
    ]
    return [*(fact for fact in kept if fact not in current), *dropped]


def approved(current: Sequence[Fact], fact_id: str, budget: int, replaces: str | None = None) -> list[Fact]:
    """Return the facts to write so that a fact proposed or pinned by a job is pinned by the owner.

    Args:
        current: pinned and proposed facts.
        fact_id: id of the fact to approve.
        budget: counted tokens for all pinned facts.
        replaces: id of a pinned fact that it supersedes.

    Raises:
        FencepostError: `not_found` if one of the two does not exist; `facts_too_large` if it does not fit.
    """
    chosen = replace(_named(current, fact_id), state=FactState.PINNED, pinned_by="owner")
    pinned = [fact for fact in current if _is_pinned(fact)]
    old = [superseded(_named(pinned, replaces), chosen)] if replaces and replaces != fact_id else []
    gone = {fact_id, *(fact.id for fact in old)}
    _require_room([*(fact for fact in pinned if fact.id not in gone), chosen], budget)
    return [fact for fact in (chosen, *old) if fact not in current]


def proposed(
    current: Sequence[Fact], drafts: Sequence[ProposedFact], now: datetime, budget: int, *, trusted: bool
) -> list[Fact]:
    """Return the facts to write for a job's drafts: as proposals, or pinned at once if the site trusts them.

    Drafts that repeat a current fact, or do not fit any more, are left out.
    """
    facts = {fact.id: fact for fact in current}
    for draft in drafts:
        known = {_gist(fact.text) for fact in facts.values() if fact.state is not FactState.SUPERSEDED}
        if draft.id not in facts and _gist(draft.text) not in known:
            facts |= {fact.id: fact for fact in _adopted(list(facts.values()), draft, now, budget, trusted=trusted)}
    return [fact for fact in facts.values() if fact not in current]


def superseded(fact: Fact, by: Fact) -> Fact:
    """Return the fact as superseded by another one."""
    return replace(fact, state=FactState.SUPERSEDED, superseded_by=by.id)


class _Book:
    """Matches wanted facts with current ones."""

    def __init__(self, current: Sequence[Fact]) -> None:
        self._by_id = {fact.id: fact for fact in current}
        self._by_text = {fact.text: fact for fact in sorted(current, key=_is_pinned)}
        self.successors: dict[str, str] = {}

    def place(self, wanted: WantedFact, new_ids: Iterator[str], now: datetime) -> Fact:
        same = self._by_text.get(wanted.text)
        if same:
            return same if _is_pinned(same) else replace(same, state=FactState.PINNED, pinned_by="owner")
        fact = Fact(id=next(new_ids), text=wanted.text, state=FactState.PINNED, pinned_by="owner", created_at=now)
        if wanted.id in self._by_id:
            self.successors[wanted.id] = fact.id
        return fact


def _adopted(current: list[Fact], draft: ProposedFact, now: datetime, budget: int, *, trusted: bool) -> list[Fact]:
    state = FactState.PINNED if trusted else FactState.PROPOSED
    fact = Fact(id=draft.id, text=draft.text, state=state, pinned_by="job", created_at=now, provenance=draft.provenance)
    old = next(
        (known for known in current if known.id == draft.replaces and known.pinned_by == "job" and _is_pinned(known)),
        None,
    )
    changes = [fact, superseded(old, fact)] if trusted and old else [fact]
    after = list({known.id: known for known in (*current, *changes)}.values())
    return changes if _fits(after, budget) else []


def _fits(facts: Sequence[Fact], budget: int) -> bool:
    pinned = [fact for fact in facts if _is_pinned(fact)]
    waiting = sum(fact.state is FactState.PROPOSED for fact in facts)
    return waiting <= MAX_PROPOSED and len(pinned) <= MAX_PINNED and _total(pinned) <= budget


def _require_room(pinned: Sequence[Fact], budget: int) -> None:
    if len(pinned) > MAX_PINNED or _total(pinned) > budget:
        raise FencepostError(ErrorCode.FACTS_TOO_LARGE)


def _total(pinned: Sequence[Fact]) -> int:
    return sum(fact_tokens(fact.text) for fact in pinned)


def _gist(text: str) -> str:
    return squeeze(fold(text)).rstrip(".。!")


def _is_pinned(fact: Fact) -> bool:
    return fact.state is FactState.PINNED


def _named(facts: Sequence[Fact], fact_id: str) -> Fact:
    found = next((fact for fact in facts if fact.id == fact_id), None)
    if found is None:
        raise FencepostError(ErrorCode.NOT_FOUND)
    return found
