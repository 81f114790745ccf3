"""`FakeJobs` against the conformance tests of its port."""

from __future__ import annotations

import pytest

from tests.conformance.jobs import CLOCK, JobConformance
from tests.fakes.memory import FakeJobs
from tests.unit.conformance.fake_backdrop import FakeBackdrop


class TestFakeJobs(JobConformance):
    @pytest.fixture
    def backdrop(self) -> FakeBackdrop:
        return FakeBackdrop()

    @pytest.fixture
    def subject(self, backdrop: FakeBackdrop) -> FakeJobs:
        return FakeJobs(backdrop.conversation, clock=lambda: CLOCK)

    @pytest.fixture
    def broken(self, subject: FakeJobs) -> FakeJobs:
        subject.faults.due.append("before")
        return subject
