"""Scopes, jobs, facts and summaries as the conformance suites and the stores' tests need them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from fencepost.identity.domain.scope import Action, Scope, Visitor, authorize, own
from fencepost.identity.domain.sites import Fact, FactState
from fencepost.memory.domain.summaries import Summary, SummaryLine
from fencepost.queue.domain import Job, Purpose, WorkLease

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
READ_AT = NOW + timedelta(days=1)
"""When stores are read whose clock a suite sets: messages that are kept for a day go if they are older than `NOW`."""
PINNED, PROPOSED, SUPERSEDED = FactState.PINNED, FactState.PROPOSED, FactState.SUPERSEDED


def visitor_scope(org: str = "acme", visitor: str = "v1", action: Action = Action.CHAT) -> Scope:
    """Return the scope of an anonymous owner of an organisation's site `docs`."""
    caller = Visitor(org, "docs", visitor)
    return authorize(caller, action, own(caller))


def namesake(scope: Scope, org: str = "umbrella") -> Scope:
    """Return the scope of the visitor with the same id in another organisation."""
    return visitor_scope(org, scope.owner.removeprefix("visitor:"))


def job_for(scope: Scope, **changes: object) -> Job:
    """Return a job of the owner's about their conversation `c1`."""
    job = Job(
        org=scope.org,
        owner=scope.owner,
        actor=scope.owner,
        purpose=Purpose.SUMMARISE,
        permission_version=0,
        created_at=NOW,
        conversation="c1",
        incarnation="i1",
    )
    return replace(job, **changes)  # type: ignore[arg-type]  # fields by name


def lease(holder: str, after: int = 0) -> WorkLease:
    """Return a lease of a minute that begins so many seconds after `NOW`."""
    now = NOW + timedelta(seconds=after)
    return WorkLease(holder, now, now + timedelta(seconds=60))


def fact(fact_id: str, text: str = "Uses Linux.", state: FactState = PINNED, age: int = 0) -> Fact:
    """Return a fact that was made so many seconds before `NOW`."""
    return Fact(
        id=fact_id,
        text=text,
        state=state,
        pinned_by="owner",
        created_at=NOW - timedelta(seconds=age),
        provenance=("q1",),
    )


def summary(last: int = 4, words: str = "Asked.") -> Summary:
    """Return a summary of the messages up to `last`."""
    return Summary(
        id=f"s{last}",
        lines=(SummaryLine(words, ("q1", "q1.1")),),
        first_seq=1,
        last_seq=last,
        content_hash="h",
        prompt_version="v",
        model="m",
        created_at=NOW,
    )


def adding(*facts: Fact) -> Callable[[Sequence[Fact]], Sequence[Fact]]:
    """Return a change that stores these facts regardless of the current ones."""
    return lambda _: facts
