"""`FakeMemory` against the conformance tests of its port."""

from __future__ import annotations

import pytest

from tests.conformance.facts import FactConformance
from tests.conformance.memory import MemoryConformance
from tests.fakes.memory import FakeMemory
from tests.unit.conformance.fake_backdrop import FakeBackdrop


@pytest.fixture
def backdrop() -> FakeBackdrop:
    return FakeBackdrop()


@pytest.fixture
def subject(backdrop: FakeBackdrop) -> FakeMemory:
    return FakeMemory(backdrop.conversation, backdrop.put_conversation, backdrop.erased)


@pytest.fixture
def broken(subject: FakeMemory) -> FakeMemory:
    subject.faults.due.append("before")
    return subject


class TestFakeMemory(MemoryConformance):
    pass


class TestFakeFacts(FactConformance):
    pass
