"""`FakeTurns` against the conformance tests of its port."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conformance.samples import READ_AT
from tests.conformance.settlements import SettlementConformance
from tests.conformance.turns import TurnConformance
from tests.fakes.turns import FakeTurns
from tests.unit.conformance.fake_backdrop import FakeBackdrop


@pytest.fixture
def backdrop() -> FakeBackdrop:
    return FakeBackdrop()


@pytest.fixture
def subject(backdrop: FakeBackdrop) -> FakeTurns:
    return FakeTurns(
        backdrop.shelf,
        backdrop.membership,
        backdrop.summaries,
        backdrop.facts,
        files=backdrop.files,
        clock=lambda: READ_AT,
    )


@pytest.fixture
def break_store(subject: FakeTurns) -> Callable[[], FakeTurns]:
    """Return what makes the next call fail."""

    def fail() -> FakeTurns:
        subject.faults.due.append("before")
        return subject

    return fail


@pytest.fixture
def broken(break_store: Callable[[], FakeTurns]) -> FakeTurns:
    return break_store()


class TestFakeTurns(TurnConformance):
    pass


class TestFakeSettlements(SettlementConformance):
    pass
