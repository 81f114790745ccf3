"""The chat while everything around it fails: no call is made or paid for outside the ledger."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Literal

import pytest

from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.money import Caps, MicroDollars, Usage
from fencepost.limits.domain.prices import cost, price_of
from fencepost.model.domain import ModelError
from fencepost.model.ports import Completion
from fencepost.observability.domain.events import AuditRecord, Event, RequestEvent
from tests.fakes.answers import FakeKeys, FakeLedger, FakeLimiter
from tests.worlds.chat import MODEL, SMALL_SITE, FakeAudit, FakeDocuments, FakeEvents, FakeModel, World, fails

ATTEMPTS, THREADS, CAP = 500, 64, 100
CHARGED = Usage(100, 0, 0, 10)

type Moment = Literal["before", "after"]

OUTCOMES: dict[str, Callable[[], Completion]] = {
    "answer": lambda: Completion("Yes.", CHARGED, 0.1),
    "failure of known cost": fails(ModelError(ErrorCode.PROVIDER_TRUNCATED, usage=CHARGED)),
    "failure of unknown cost": fails(ModelError(ErrorCode.PROVIDER_TIMEOUT, usage=None)),
}


class Killed(BaseException):
    """The process is gone: nothing catches it, and no port answers any more."""


class Fate:
    """Fails at one call of a port. After a `Killed` every later call fails as well, as those in `finally` would."""

    def __init__(self, at: int | None, moment: Moment, error: BaseException) -> None:
        self.calls = 0
        self.at = at
        self.moment = moment
        self.error = error

    def around(self, call: Callable[[], object]) -> object:
        number, self.calls = self.calls, self.calls + 1
        dead = isinstance(self.error, Killed) and self.at is not None and number > self.at
        if dead or (number == self.at and self.moment == "before"):
            raise self.error
        result = call()
        if number == self.at:
            raise self.error
        return result


class Fragile:
    """A port whose calls are in the hands of fate."""

    def __init__(self, port: object, fate: Fate) -> None:
        self._port = port
        self._fate = fate

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._port, name)
        return lambda *arguments: self._fate.around(lambda: method(*arguments))


class FragileWorld:
    """A world behind fragile ports, with the solid ones at hand."""

    def __init__(self, fate: Fate, outcome: Callable[[], Completion], *, fragile_log: bool) -> None:
        self.ledger, self.model, self.events = FakeLedger(), FakeModel(outcome), FakeEvents()
        self.world = World(
            limiter=self._fragile(FakeLimiter(), fate),
            ledger=self._fragile(self.ledger, fate),
            model=self._fragile(self.model, fate),
            documents=self._fragile(FakeDocuments(SMALL_SITE), fate),
            keys=self._fragile(FakeKeys(), fate),
            audit=self._fragile(FakeAudit(), fate),
            log=self._fragile(self.events, fate) if fragile_log else self.events,
        )

    @staticmethod
    def _fragile(port: object, fate: Fate) -> Any:
        return Fragile(port, fate)

    def assert_paid_for(self) -> None:
        """Whatever the provider charged is on the bill, and it was called on permits alone."""
        bill = self.ledger.bill(self.world.clock.now.date())
        calls = len(self.model.prompts)
        assert calls <= bill.calls <= 1
        assert bill.committed >= calls * cost(price_of(MODEL), CHARGED)


def number_of_calls(outcome: Callable[[], Completion], *, fragile_log: bool) -> int:
    fate = Fate(None, "before", Killed())
    FragileWorld(fate, outcome, fragile_log=fragile_log).world.ask()
    return fate.calls


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_process_that_dies_anywhere_leaves_its_call_on_the_bill(outcome: str, moment: Moment) -> None:
    calls = number_of_calls(OUTCOMES[outcome], fragile_log=True)
    assert calls > 10
    for at in range(calls):
        fragile = FragileWorld(Fate(at, moment, Killed()), OUTCOMES[outcome], fragile_log=True)
        with suppress(Killed):
            fragile.world.ask()
        fragile.assert_paid_for()


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("error", [RuntimeError("a bug"), FencepostError(ErrorCode.LEDGER_UNAVAILABLE)])
def test_a_fault_at_any_port_is_answered_and_on_the_bill(outcome: str, moment: Moment, error: Exception) -> None:
    for at in range(number_of_calls(OUTCOMES[outcome], fragile_log=False)):
        fragile = FragileWorld(Fate(at, moment, error), OUTCOMES[outcome], fragile_log=False)
        reply = fragile.world.ask()
        assert reply.status in {200, 500, 502, 504}
        fragile.assert_paid_for()


class BrokenReports(FakeEvents, FakeAudit):
    """Keeps neither audit items nor request events, and fails to say so."""

    def __init__(self) -> None:
        FakeEvents.__init__(self)
        FakeAudit.__init__(self)

    def emit(self, event: Event) -> None:
        super().emit(event)
        if isinstance(event, RequestEvent):
            raise OSError

    def record(self, entry: AuditRecord) -> None:
        raise RuntimeError

    def log_unexpected(self, error: BaseException) -> None:
        super().log_unexpected(error)
        raise OSError


def test_a_paid_answer_is_delivered_whatever_cannot_be_reported() -> None:
    broken = BrokenReports()
    reply = World(events=broken, audit=broken).ask()
    assert (reply.status, reply.json["response"]) == (200, "Yes.")
    assert [type(error) for error in broken.unexpected] == [RuntimeError, OSError]
    assert len(broken.of(RequestEvent)) == 1


def statuses(world: World) -> list[int]:
    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(lambda _: world.ask().status, range(ATTEMPTS)))


def test_a_call_cap_is_exact_under_threads() -> None:
    world = World(caps=Caps(CAP, MicroDollars(10**9)))
    assert sorted(statuses(world)) == [200] * CAP + [429] * (ATTEMPTS - CAP)
    assert world.calls == CAP


def test_a_money_cap_is_exact_under_threads() -> None:
    unknown_cost = fails(ModelError(ErrorCode.PROVIDER_TIMEOUT, usage=None))
    probe = World(model=FakeModel(unknown_cost))
    probe.ask()
    cap = MicroDollars(CAP * probe.bill.committed + probe.bill.committed - 1)
    world = World(model=FakeModel(unknown_cost), caps=Caps(ATTEMPTS, cap))
    assert sorted(statuses(world)) == [429] * (ATTEMPTS - CAP) + [504] * CAP
    assert world.calls == CAP
    assert world.bill.committed <= cap
