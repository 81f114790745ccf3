from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread

import pytest

from fencepost.access.domain import CacheKey, ScopedCache
from fencepost.identity.domain.scope import Action, Member, Membership, OrgRole, Scope, authorize, own

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)


def scope(org: str = "acme", version: int = 1) -> Scope:
    caller = Member(org, "u1", Membership(org, "u1", OrgRole.MEMBER, active=True, version=version))
    return authorize(caller, Action.READ, own(caller))


class Watched(ScopedCache[str]):
    """A cache that keeps whom it reported."""

    def __init__(self, most: int = 10) -> None:
        self.reported: list[Scope] = []
        super().__init__(most, self.reported.append)


def test_what_was_put_is_there_until_it_ends() -> None:
    cache, key = Watched(), CacheKey.of(scope(), "c1")
    cache.put(scope(), key, "piece", LATER)
    assert cache.get(scope(), key, LATER - timedelta(microseconds=1)) == "piece"
    assert cache.get(scope(), key, LATER) is None
    assert cache.reported == []


def test_a_revocation_leaves_behind_what_was_cached_before_it() -> None:
    cache, before, after = Watched(), scope(version=1), scope(version=2)
    cache.put(before, CacheKey.of(before, "c1"), "piece", LATER)
    assert cache.get(after, CacheKey.of(after, "c1"), NOW) is None
    assert cache.reported == []


@pytest.mark.parametrize("other", [scope("zeta"), scope(version=2)])
def test_a_key_outside_the_scope_gives_nothing_and_is_reported(other: Scope) -> None:
    cache, key = Watched(), CacheKey.of(scope(), "c1")
    cache.put(scope(), key, "piece", LATER)
    assert cache.get(other, key, NOW) is None
    cache.put(other, key, "another piece", LATER)
    assert cache.reported == [other, other]
    assert cache.get(scope(), key, NOW) == "piece"


def test_an_entry_that_lies_under_anothers_key_is_never_handed_out() -> None:
    cache, mine, theirs = Watched(), CacheKey("acme"), CacheKey("zeta")
    cache.put(scope("zeta"), theirs, "theirs", LATER)
    cache._entries[mine] = cache._entries[theirs]  # what a fault of ours would do
    assert cache.get(scope("acme"), mine, NOW) is None
    assert cache.reported == [scope("acme")]


def test_the_entries_that_were_put_last_are_kept() -> None:
    cache = Watched(most=2)
    for name in ("c1", "c2", "c1", "c3"):
        cache.put(scope(), CacheKey.of(scope(), name), name, LATER)
    assert [cache.get(scope(), CacheKey.of(scope(), name), NOW) for name in ("c1", "c2", "c3")] == ["c1", None, "c3"]


def test_threads_of_two_organisations_never_see_each_others() -> None:
    cache, barrier, seen = Watched(most=1), Barrier(2), list[tuple[str, str | None]]()

    def work(org: str) -> None:
        barrier.wait()
        for number in range(300):
            key = replace(CacheKey.of(scope(org), "c1"), conversation=f"c{number % 3}")
            cache.put(scope(org), key, org, LATER)
            seen.append((org, cache.get(scope(org), key, NOW)))

    threads = [Thread(target=work, args=(org,)) for org in ("acme", "zeta")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {value for org, value in seen if org == "acme"} <= {"acme", None}
    assert {value for org, value in seen if org == "zeta"} <= {"zeta", None}
