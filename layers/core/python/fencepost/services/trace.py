"""What one request did, gathered on its way: the substance of its `RequestEvent`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from fencepost.domain.errors import ErrorCode
from fencepost.domain.events import RequestEvent, StageTimings
from fencepost.domain.money import MicroDollars, Usage
from fencepost.domain.system_prompt import VERSION

type Stage = Literal["guard", "documents", "assemble", "reserve", "first_token", "provider", "settle"]

_NOTHING = MicroDollars(0)


@dataclass(slots=True)
class Trace:
    """A record that each stage writes to. It lives for one request and holds no word of it.

    Attributes:
        stages: milliseconds spent in each stage that was reached.
        usage: what the provider counted, where it was called and said so.
        cost: what the call adds to the day's bill.
        sources: ids of the sections in the prompt.
        cited: ids of the sections that the answer cites.
        counted: the address limits let the request pass.
    """

    stages: dict[Stage, float] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    cost: MicroDollars = _NOTHING
    sources: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    counted: bool = False
    _began: float = field(default_factory=time.perf_counter)

    @contextmanager
    def stage(self, name: Stage) -> Iterator[None]:
        """Time a stage, whether it succeeds or fails."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.stages[name] = _milliseconds_since(began)

    def seconds(self) -> float:
        """Return how long the request has been under way."""
        return time.perf_counter() - self._began

    def event(self, outcome: ErrorCode | Literal["answered", "demo", "preflight"], status: int) -> RequestEvent:
        """Return the request's event, as it ends."""
        return RequestEvent(
            outcome=outcome,
            status=status,
            stages=StageTimings.model_validate({**self.stages, "total": _milliseconds_since(self._began)}),
            input_tokens=self.usage.input_tokens,
            cache_write_tokens=self.usage.cache_write_tokens,
            cache_read_tokens=self.usage.cache_read_tokens,
            output_tokens=self.usage.output_tokens,
            cost_microdollars=self.cost,
            cache_hit=self.usage.cache_read_tokens > 0,
            prompt_version=VERSION if "assemble" in self.stages else None,
            sources=self.sources,
            cited=self.cited,
        )


def _milliseconds_since(began: float) -> float:
    return (time.perf_counter() - began) * 1_000
