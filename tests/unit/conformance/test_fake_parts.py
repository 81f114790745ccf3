"""`FakeParts` and `FakeMessageHits` against the conformance tests of their ports."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fencepost.identity.domain.scope import Scope
from tests.conformance.parts import PartConformance, row
from tests.fakes.memories import FakeMessageHits
from tests.fakes.parts import FakeParts
from tests.unit.conformance.fake_backdrop import FakeBackdrop


class TestFakeParts(PartConformance):
    @pytest.fixture
    def backdrop(self) -> FakeBackdrop:
        return FakeBackdrop()

    @pytest.fixture
    def subject(self, backdrop: FakeBackdrop) -> FakeParts:
        return FakeParts(backdrop.shelf)

    @pytest.fixture
    def remembered(self, subject: FakeParts) -> FakeParts:
        return subject

    @pytest.fixture
    def remember(self, subject: FakeParts, backdrop: FakeBackdrop) -> Callable[[Scope, str], None]:
        def write(scope: Scope, conversation_id: str) -> None:
            assert subject.put_chunks(scope, backdrop.begin(scope, id=conversation_id), [row(1)])

        return write

    @pytest.fixture
    def hits(self, subject: FakeParts, backdrop: FakeBackdrop) -> FakeMessageHits:
        return FakeMessageHits(backdrop.shelf, subject)

    @pytest.fixture
    def broken(self, subject: FakeParts) -> FakeParts:
        subject.faults.at(0, "before")
        return subject

    @pytest.fixture
    def broken_remembered(self, broken: FakeParts) -> FakeParts:
        return broken

    @pytest.fixture
    def broken_hits(self, hits: FakeMessageHits) -> FakeMessageHits:
        hits.faults.at(0, "before")
        return hits
