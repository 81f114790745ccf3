"""The cache of `llms-full.txt` under concurrent callers, and in any order of outages, changes and restarts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Event as Flag

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from fencepost.documents.service.llms_full_cache import FRESH_FOR, RETRY_AFTER
from fencepost.kernel.errors import ErrorCode, FencepostError, UnreachableReason
from tests.unit.documents.document_fakes import NOON, Archive, Instance, Site
from tests.worlds.thoroughness import examples


def in_parallel(count: int, call: Callable[[], object], site: Site) -> list[object]:
    """Run calls on threads and let the site answer only when all others had their chance to reach it."""
    arrived, release = Flag(), Flag()

    def hold() -> None:
        arrived.set()
        assert release.wait(30)

    site.before_answer = hold
    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(call) for _ in range(count)]
        assert arrived.wait(30)
        release.set()
        return [future.exception() or future.result() for future in futures]


def test_concurrent_cold_calls_share_one_fetch() -> None:
    instance = Instance()
    assert in_parallel(32, lambda: instance.read(NOON), instance.site) == ["first"] * 32
    assert len(instance.site.asked) == instance.archive.loads == instance.archive.saves == 1


def test_concurrent_cold_calls_share_one_failure() -> None:
    instance = Instance()
    instance.site.down = "timeout"
    outcomes = in_parallel(32, lambda: instance.read(NOON), instance.site)
    assert all(isinstance(outcome, FencepostError) for outcome in outcomes)
    assert len(instance.site.asked) == len(instance.log.entries) == 1


def test_nobody_waits_for_a_fetch_who_has_a_stale_copy() -> None:
    instance = Instance()
    instance.read(NOON)
    instance.site.text = "second"
    later = NOON + FRESH_FOR
    meanwhile: list[str] = []
    # The site answers only after other callers were served: they cannot have waited for it.
    instance.site.before_answer = lambda: meanwhile.extend(read_on_a_thread(instance, later) for _ in range(8))
    assert instance.read(later) == "second"
    assert meanwhile == ["first"] * 8
    assert len(instance.site.asked) == 2


def read_on_a_thread(instance: Instance, now: datetime) -> str:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(instance.read, now).result(30)


class CacheMachine(RuleBasedStateMachine):
    """Any order of outages, changes, broken archives, new instances and time, against what a visitor may expect."""

    def __init__(self) -> None:
        super().__init__()
        self.now = NOON
        self.site = Site("0")
        self.archive = Archive()
        self.instance = Instance(self.site, self.archive)
        self.published = {"0"}
        self.asked_at: list[tuple[datetime, bool]] = []
        self.site.before_answer = lambda: self.asked_at.append((self.now, self.site.down is not None))
        self.ever_read = False

    @rule(seconds=st.sampled_from([1, 29, 30, 1_799, 3_599, 3_600, 90_000]))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def the_site_changes(self) -> None:
        self.site.text = str(len(self.published))
        self.published.add(self.site.text)

    @rule(down=st.sampled_from([None, "timeout", "status"]))
    def the_site_goes_down_or_up(self, down: UnreachableReason | None) -> None:
        self.site.down = down

    @rule(broken=st.booleans())
    def the_archive_breaks_or_heals(self, broken: bool) -> None:
        self.archive.broken = broken

    @rule()
    def a_new_instance_starts(self) -> None:
        self.instance = Instance(self.site, self.archive)
        self.asked_at.clear()
        self.ever_read = False

    @rule()
    def somebody_asks(self) -> None:
        asked = len(self.asked_at)
        text = self.outcome()
        if isinstance(text, FencepostError):
            assert text.code is ErrorCode.DOCUMENTS_UNAVAILABLE
            assert text.retry_after in range(1, 31)
            assert not self.ever_read, "what was had once is never lost"
            return
        self.ever_read = True
        assert text in self.published
        if len(self.asked_at) > asked and self.site.down is None:
            assert text == self.site.text

    def outcome(self) -> str | FencepostError:
        try:
            return self.instance.read(self.now)
        except FencepostError as error:
            return error

    @invariant()
    def fetches_keep_their_distance(self) -> None:
        for (earlier, failed), (later, _) in zip(self.asked_at, self.asked_at[1:], strict=False):
            assert later - earlier >= (RETRY_AFTER if failed else FRESH_FOR)


TestCacheMachine = CacheMachine.TestCase
TestCacheMachine.settings = settings(max_examples=examples(90), stateful_step_count=40, deadline=None)
