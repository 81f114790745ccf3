"""`SecondsCache`: age, versions and number of entries."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from fencepost.identity.dynamodb.directory import MAX_COPIES, SECONDS, SecondsCache


@dataclass(frozen=True)
class Setting:
    version: int


class Timer:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_a_copy_lasts_for_seconds() -> None:
    timer = Timer()
    cache = SecondsCache[Setting](timer)
    cache.keep("a", Setting(1))
    timer.seconds += SECONDS - 0.001
    assert cache.get("a") == Setting(1)
    timer.seconds += 0.001
    assert cache.get("a") is cache.get("b") is None


def test_an_old_copy_gives_way_even_to_a_lower_version() -> None:
    timer = Timer()
    cache = SecondsCache[Setting](timer)
    cache.keep("a", Setting(9))
    timer.seconds += SECONDS
    assert cache.keep("a", Setting(1)) == cache.get("a") == Setting(1)


@given(st.lists(st.integers(0, 9), min_size=1))
def test_a_version_never_goes_back_while_a_copy_is_young(versions: list[int]) -> None:
    cache = SecondsCache[Setting](Timer())
    for place, version in enumerate(versions):
        newest = Setting(max(versions[: place + 1]))
        assert cache.keep("a", Setting(version)) == cache.get("a") == newest


def test_the_oldest_copies_make_room() -> None:
    cache = SecondsCache[Setting](Timer())
    for number in range(MAX_COPIES + 2):
        cache.keep(str(number), Setting(number))
    assert cache.get("0") is cache.get("1") is None
    assert cache.get("2") == Setting(2)
    assert cache.get(str(MAX_COPIES + 1)) == Setting(MAX_COPIES + 1)
