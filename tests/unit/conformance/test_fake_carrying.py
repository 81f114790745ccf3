"""`FakeCarryStore` against the conformance tests of its port."""

from __future__ import annotations

import pytest

from tests.conformance.carrying import CarryConformance
from tests.fakes.carrying import FakeCarryStore
from tests.fakes.conversations import FakeConversations
from tests.fakes.directory import FakeDirectory
from tests.fakes.memory import FakeMemory
from tests.unit.conformance.fake_backdrop import FakeBackdrop


class TestFakeCarrying(CarryConformance):
    @pytest.fixture
    def backdrop(self) -> FakeBackdrop:
        return FakeBackdrop()

    @pytest.fixture
    def memory(self, backdrop: FakeBackdrop) -> FakeMemory:
        return FakeMemory(backdrop.conversation, backdrop.put_conversation)

    @pytest.fixture
    def subject(self, backdrop: FakeBackdrop, memory: FakeMemory) -> FakeCarryStore:
        directory = FakeDirectory()
        directory.memberships = backdrop.memberships
        return FakeCarryStore(FakeConversations(backdrop.shelf), memory, directory)

    @pytest.fixture
    def broken(self, subject: FakeCarryStore) -> FakeCarryStore:
        subject.conversations.faults.due.append("before")
        subject.directory.faults.append("before")
        return subject
