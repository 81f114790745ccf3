"""`FakeDirectory` and `FakeDirectoryAdmin` against the conformance tests of their ports."""

from __future__ import annotations

import pytest

from tests.conformance.directory import DirectoryConformance, Refresh
from tests.fakes.directory import FakeDirectory, FakeDirectoryAdmin


class TestFakeDirectory(DirectoryConformance):
    @pytest.fixture
    def subject(self) -> FakeDirectory:
        return FakeDirectory()

    @pytest.fixture
    def admin(self, subject: FakeDirectory) -> FakeDirectoryAdmin:
        return subject.administered

    @pytest.fixture
    def refresh(self) -> Refresh:
        return lambda: None

    @pytest.fixture
    def broken(self, subject: FakeDirectory) -> FakeDirectory:
        subject.faults.append("before")
        return subject

    @pytest.fixture
    def broken_admin(self, broken: FakeDirectory) -> FakeDirectoryAdmin:
        return broken.administered
