"""A town for each module, and the search for markers after each of its tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.doubles.stack import Stack
from tests.integration.isolation.town import Town


@pytest.fixture(scope="module")
def town(stack: Stack) -> Town:
    # What others left in the queue would call the provider meanwhile.
    stack.settle()
    return Town(stack)


@pytest.fixture(autouse=True)
def nobody_sees_anybody_elses_words(town: Town) -> Iterator[None]:
    town.stack.provider.reset()
    yield
    assert town.mixed_prompts() == []
    assert town.told_to_others() == []
    assert town.logged() == []
