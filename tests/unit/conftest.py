"""Fixtures of several modules here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.doubles.stand_in import StandIn, running_stand_in


@pytest.fixture(scope="module")
def server() -> Iterator[StandIn]:
    """Yield a stand-in for the provider."""
    with running_stand_in() as server:
        yield server


@pytest.fixture
def stand_in(server: StandIn) -> StandIn:
    """Return it without the orders and records of other tests."""
    server.reset()
    return server
