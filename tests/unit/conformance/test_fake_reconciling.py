"""`FakeRoll` and `FakeReconcileStore` against the conformance tests of their ports."""

from __future__ import annotations

import pytest

from tests.conformance.reconciling import ORGS, ReconcileConformance, RollConformance
from tests.fakes.corpus import PortFaults
from tests.fakes.reconcile import FakeReconcileStore, FakeRoll


class TestFakeRoll(RollConformance):
    @pytest.fixture
    def subject(self) -> FakeRoll:
        return FakeRoll(PortFaults(), ORGS)

    @pytest.fixture
    def broken(self, subject: FakeRoll) -> FakeRoll:
        subject.faults.at(0, "before")
        return subject


class TestFakeReconcileStore(ReconcileConformance):
    @pytest.fixture
    def subject(self) -> FakeReconcileStore:
        return FakeReconcileStore(PortFaults())

    @pytest.fixture
    def broken(self, subject: FakeReconcileStore) -> FakeReconcileStore:
        subject.faults.at(0, "before")
        return subject
