"""`FakeRegistry` and `FakeReconcileStore` against the conformance tests of their ports."""

from __future__ import annotations

import pytest

from tests.conformance.reconciling import ORGS, ReconcileConformance, RegistryConformance
from tests.fakes.corpus import PortFaults
from tests.fakes.reconcile import FakeReconcileStore, FakeRegistry


class TestFakeRegistry(RegistryConformance):
    @pytest.fixture
    def subject(self) -> FakeRegistry:
        return FakeRegistry(PortFaults(), ORGS)

    @pytest.fixture
    def broken(self, subject: FakeRegistry) -> FakeRegistry:
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
