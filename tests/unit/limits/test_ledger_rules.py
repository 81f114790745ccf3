"""Spent + reserved never exceeds the cap and never loses a cent, whatever happens in whatever order."""

from __future__ import annotations

from hypothesis import settings

from tests.fakes.answers import FakeLedger
from tests.worlds.ledger_machine import LedgerMachine, Store
from tests.worlds.thoroughness import examples


class InMemory(LedgerMachine):
    def new_store(self) -> Store:
        ledger = FakeLedger()
        return Store(ledger, ledger.bill, ledger.faults.append)


class InMemoryWithoutFaults(LedgerMachine):
    def new_store(self) -> Store:
        ledger = FakeLedger()
        return Store(ledger, ledger.bill)


class LeasedInMemory(InMemory):
    block = 6


class LeasedInMemoryWithoutFaults(InMemoryWithoutFaults):
    block = 6


TestPlain = InMemoryWithoutFaults.TestCase
TestPlainWithFaults = InMemory.TestCase
TestLeased = LeasedInMemoryWithoutFaults.TestCase
TestLeasedWithFaults = LeasedInMemory.TestCase

TestPlain.settings = TestPlainWithFaults.settings = settings(
    max_examples=examples(90), stateful_step_count=40, deadline=None
)
TestLeased.settings = TestLeasedWithFaults.settings = settings(
    max_examples=examples(200), stateful_step_count=40, deadline=None
)
