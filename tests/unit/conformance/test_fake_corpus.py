"""`FakeCorpus` against the conformance tests of its ports."""

from __future__ import annotations

import pytest

from tests.conformance.corpus import CorpusConformance
from tests.fakes.corpus import FakeCorpus


class TestFakeCorpus(CorpusConformance):
    @pytest.fixture
    def subject(self) -> FakeCorpus:
        return FakeCorpus()

    @pytest.fixture
    def agenda(self, subject: FakeCorpus) -> FakeCorpus:
        return subject

    @pytest.fixture
    def broken(self, subject: FakeCorpus) -> FakeCorpus:
        subject.faults.at(0, "before")
        return subject

    @pytest.fixture
    def broken_agenda(self, broken: FakeCorpus) -> FakeCorpus:
        return broken
