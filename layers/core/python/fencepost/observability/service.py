"""Collect the data of a request's event, and name subjects by pseudonyms."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from fencepost.identity.domain.scope import Resource, Scope
from fencepost.kernel.money import MicroDollars, Usage
from fencepost.kernel.ports import Keys
from fencepost.observability.domain.event_parts import Fetched, StageTimings, Subject
from fencepost.observability.domain.events import Outcome, RequestEvent
from fencepost.observability.domain.pseudonyms import PURPOSE, Pseudonyms, is_public

type Stage = Literal[
    "guard",
    "authenticate",
    "authorize",
    "wait",
    "claim",
    "load",
    "retrieve",
    "rewrite",
    "documents",
    "assemble",
    "reserve",
    "first_token",
    "provider",
    "settle",
]

_NOTHING = MicroDollars(0)


@dataclass(slots=True)
class Trace:
    """Data of one request, written by its stages. It contains no user content.

    Attributes:
        stages: milliseconds spent in each stage that was reached.
        usage: tokens of all provider calls, as far as the provider reported them.
        cost: micro-dollars that the calls add to the day's bill.
        sources: ids of all sources in the prompt.
        cited: ids of the sources that the answer cites.
        counted: the address limits admitted the request.
        recorded: another store records the outcome, so no audit record is needed.
        route: row of the table of routes that answers.
        prompt_version: version of the standing rules; None if no prompt was assembled.
        fetched: counts of items that were read for the prompt.
        degraded: an input of the prompt was unavailable and left out.
        subject: pseudonyms of the data's owner.
    """

    stages: dict[Stage, float] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    cost: MicroDollars = _NOTHING
    sources: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    counted: bool = False
    recorded: bool = False
    route: str | None = None
    prompt_version: str | None = None
    fetched: Fetched | None = None
    degraded: bool = False
    subject: Subject | None = None
    _scope: Scope | None = None
    _pseudonyms: Pseudonyms | None = None
    _began: float = field(default_factory=time.perf_counter)

    @contextmanager
    def stage(self, name: Stage) -> Iterator[None]:
        """Measure the time of a stage, whether it succeeds or fails."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.stages[name] = _milliseconds_since(began)

    def identify(
        self, pseudonyms: Pseudonyms, scope: Scope, conversation_id: str | None = None, message_id: str | None = None
    ) -> None:
        """Set the subject of the request. A later call replaces it, for example once the message is known."""
        self._scope, self._pseudonyms = scope, pseudonyms
        self.subject = subject(pseudonyms, scope, conversation_id, message_id)

    def bill(self, usage: Usage, cost: MicroDollars) -> None:
        """Add tokens and cost of a provider call."""
        self.usage += usage
        self.cost = MicroDollars(self.cost + cost)

    def seconds(self) -> float:
        """Return the seconds since the request began."""
        return time.perf_counter() - self._began

    def event(self, outcome: Outcome, status: int) -> RequestEvent:
        """Return the event of the request, at its end."""
        return RequestEvent(
            outcome=outcome,
            status=status,
            stages=StageTimings.model_validate({**self.stages, "total": _milliseconds_since(self._began)}),
            route=self.route,
            subject=self.subject,
            fetched=self.fetched,
            degraded=self.degraded,
            input_tokens=self.usage.input_tokens,
            cache_write_tokens=self.usage.cache_write_tokens,
            cache_read_tokens=self.usage.cache_read_tokens,
            output_tokens=self.usage.output_tokens,
            cost_microdollars=self.cost,
            cache_hit=self.usage.cache_read_tokens > 0,
            prompt_version=self.prompt_version,
            sources=self._loggable(self.sources),
            cited=self._loggable(self.cited),
        )

    def _loggable(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        """Return ids of public sections as they are, and others as pseudonyms, or not at all without a subject."""
        if self._pseudonyms is None or self._scope is None:
            return tuple(filter(is_public, ids))
        return tuple(self._pseudonyms.source(self._scope, source_id) for source_id in ids)


def _milliseconds_since(began: float) -> float:
    return (time.perf_counter() - began) * 1_000


def pseudonyms(keys: Keys) -> Pseudonyms:
    """Return the pseudonyms under the current key.

    Raises:
        FencepostError: `misconfigured`; the signing secret cannot be read.
    """
    return Pseudonyms(keys.derive(PURPOSE))


def subject(
    names: Pseudonyms, scope: Scope, conversation_id: str | None = None, message_id: str | None = None
) -> Subject:
    """Return the subject of an event about a scope's data. Its `actor` is set only if it is not the owner."""
    return Subject(
        org=names.organisation(scope.org),
        owner=names.owner(scope),
        actor=None if scope.actor == scope.owner else names.of("owner", scope.org, scope.actor),
        conversation=None if conversation_id is None else names.of("conv", scope.org, conversation_id),
        message=None if message_id is None else names.of("msg", scope.org, f"{scope.owner}\0{message_id}"),
    )


def subject_of(names: Pseudonyms, resource: Resource, actor: str | None = None) -> Subject:
    """Return the subject of an event without a scope: a denial, or a refused job."""
    owner = resource.owner
    return Subject(
        org=names.organisation(resource.org),
        owner=None if owner is None else names.of("owner", resource.org, owner),
        actor=None if actor is None or actor == owner else names.of("owner", resource.org, actor),
    )
