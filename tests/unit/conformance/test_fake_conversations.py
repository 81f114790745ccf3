"""`FakeConversations` against the conformance tests of its port."""

from __future__ import annotations

import pytest

from tests.conformance.conversations import ConversationConformance
from tests.conformance.messages import MessageConformance
from tests.conformance.samples import READ_AT
from tests.fakes.conversations import FakeConversations
from tests.unit.conformance.fake_backdrop import FakeBackdrop


@pytest.fixture
def backdrop() -> FakeBackdrop:
    return FakeBackdrop()


@pytest.fixture
def subject(backdrop: FakeBackdrop) -> FakeConversations:
    return FakeConversations(backdrop.shelf, clock=lambda: READ_AT)


@pytest.fixture
def broken(subject: FakeConversations) -> FakeConversations:
    subject.faults.due.append("before")
    return subject


class TestFakeConversations(ConversationConformance):
    pass


class TestFakeMessages(MessageConformance):
    pass
