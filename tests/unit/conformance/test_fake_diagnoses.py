"""`FakeDiagnoses` against the conformance tests of its port."""

from __future__ import annotations

import pytest

from tests.conformance.diagnoses import DiagnosisConformance
from tests.fakes.diagnoses import FakeDiagnoses


class TestFakeDiagnoses(DiagnosisConformance):
    @pytest.fixture
    def subject(self) -> FakeDiagnoses:
        return FakeDiagnoses()

    @pytest.fixture
    def broken(self, subject: FakeDiagnoses) -> FakeDiagnoses:
        subject.faults.due.append("before")
        return subject
