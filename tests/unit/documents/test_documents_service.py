"""The cache of `llms-full.txt`: what it fetches and when, what it serves meanwhile, and what it reports."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest

from fencepost.documents.domain.sections import DocumentSet
from fencepost.documents.ports import ArchivedDocument
from fencepost.documents.service.llms_full_cache import FRESH_FOR, RETRY_AFTER, LlmsFullCache, document_url
from fencepost.kernel.errors import ErrorCode, UnreachableReason
from fencepost.kernel.ports import RawDocument, Validators
from fencepost.observability.domain.events import DocumentsEvent
from tests.unit.documents.document_fakes import (
    MINUTE,
    NOON,
    SITE,
    URL,
    Archive,
    EventLog,
    Instance,
    Site,
    archived,
    refusal,
)

# What is fetched, and when


def test_the_first_call_fetches_and_archives() -> None:
    instance = Instance()
    assert instance.read(NOON) == "first"
    assert instance.archive.copies[URL] == ArchivedDocument(RawDocument("first", instance.site.validators), NOON)
    assert instance.log.entries == [DocumentsEvent(result="fetched", sections=1, size_bytes=5)]


def test_the_size_is_reported_in_bytes() -> None:
    instance = Instance(Site("柵の杭"))
    instance.read(NOON)
    assert instance.log.entries[0].size_bytes == 9


def test_within_the_hour_nothing_else_is_touched() -> None:
    instance = Instance()
    for minutes in (0, 1, 30, 59):
        instance.read(NOON + minutes * MINUTE)
    assert len(instance.site.asked) == instance.archive.loads == instance.archive.saves == 1


def test_after_an_hour_the_site_is_asked_with_its_validators() -> None:
    instance = Instance()
    instance.read(NOON)
    instance.site.text = "second"
    assert instance.read(NOON + FRESH_FOR) == "second"
    assert instance.site.asked == [Validators(), Validators(etag='"first"')]
    assert instance.archive.copies[URL].document.text == "second"


def test_unchanged_renews_the_hour() -> None:
    instance = Instance()
    for minutes in (0, 60, 90, 119):
        assert instance.read(NOON + minutes * MINUTE) == "first"
    assert len(instance.site.asked) == 2
    assert instance.log.results == ["fetched", "unchanged"]


def test_a_warm_instance_never_reads_the_archive() -> None:
    instance = Instance()
    instance.read(NOON)
    instance.read(NOON + 2 * FRESH_FOR)
    assert instance.archive.loads == 1


def test_a_clock_set_back_does_not_keep_a_copy_for_ever() -> None:
    instance = Instance()
    instance.read(NOON)
    instance.read(NOON - 2 * FRESH_FOR)
    assert len(instance.site.asked) == 2


def test_the_splitter_gets_the_site_not_the_file() -> None:
    assert Instance().cache.current(NOON).sections[0].url == SITE


# A new instance


def test_a_young_archive_copy_is_used_without_a_fetch() -> None:
    instance = Instance(Site("newer"), archived("kept", NOON - 59 * MINUTE))
    assert instance.read(NOON) == "kept"
    assert instance.site.asked == []


def test_the_age_of_an_archive_copy_counts_on() -> None:
    instance = Instance(Site("newer"), archived("kept", NOON - 59 * MINUTE))
    instance.read(NOON)
    assert instance.read(NOON + MINUTE) == "newer"


def test_an_old_archive_copy_costs_a_304_and_is_renewed_for_all() -> None:
    site, archive = Site("kept"), archived("kept", NOON - 2 * FRESH_FOR)
    assert Instance(site, archive).read(NOON) == "kept"
    assert site.asked == [Validators(etag='"kept"')]
    assert archive.copies[URL].confirmed_at == NOON
    assert Instance(site, archive).read(NOON + MINUTE) == "kept"
    assert len(site.asked) == 1


def test_an_old_archive_copy_gives_way_to_a_new_file() -> None:
    instance = Instance(Site("newer"), archived("kept", NOON - 2 * FRESH_FOR))
    assert instance.read(NOON) == "newer"
    assert instance.archive.copies[URL].document.text == "newer"


def test_a_copy_from_the_future_is_not_trusted_to_be_fresh() -> None:
    instance = Instance(Site("newer"), archived("kept", NOON + 365 * 24 * FRESH_FOR))
    assert instance.read(NOON) == "newer"


def test_an_archive_copy_without_content_counts_as_none() -> None:
    instance = Instance(Site("newer"), archived(" ", NOON))
    assert instance.read(NOON) == "newer"
    assert instance.site.asked == [Validators()]


# Failures


@pytest.mark.parametrize("reason", ["timeout", "status", "too_large", "address_refused"])
def test_a_stale_copy_is_served_when_the_site_fails(reason: UnreachableReason) -> None:
    instance = Instance()
    instance.read(NOON)
    instance.site.down = reason
    assert instance.read(NOON + 5 * FRESH_FOR) == "first"
    assert instance.log.entries[-1] == DocumentsEvent(result="stale_served", reason=reason)


def test_a_new_instance_serves_the_archive_when_the_site_is_down() -> None:
    instance = Instance(archive=archived("kept", NOON - 24 * FRESH_FOR))
    instance.site.down = "timeout"
    assert instance.read(NOON) == "kept"
    assert instance.log.entries == [DocumentsEvent(result="stale_served", reason="timeout")]
    assert instance.archive.saves == 0


def test_without_any_copy_the_answer_is_503_with_retry_after() -> None:
    instance = Instance()
    instance.site.down = "dns"
    error = refusal(lambda: instance.read(NOON))
    assert (error.code, error.retry_after) == (ErrorCode.DOCUMENTS_UNAVAILABLE, 30)
    assert instance.log.entries == [DocumentsEvent(result="unavailable", reason="dns")]


def test_after_a_failure_nothing_is_fetched_for_thirty_seconds() -> None:
    instance = Instance()
    instance.site.down = "dns"
    moments = [NOON + timedelta(seconds=seconds) for seconds in (0, 0.5, 1, 29.5)]
    waits = [refusal(partial(instance.read, moment)).retry_after for moment in moments]
    assert waits == [30, 30, 29, 1]
    assert len(instance.site.asked) == instance.archive.loads == len(instance.log.entries) == 1
    instance.site.down = None
    assert instance.read(NOON + RETRY_AFTER) == "first"


def test_the_pause_holds_for_a_stale_copy_too() -> None:
    instance = Instance()
    instance.read(NOON)
    instance.site.down = "timeout"
    later = NOON + 2 * FRESH_FOR
    for seconds in range(30):
        assert instance.read(later + timedelta(seconds=seconds)) == "first"
    assert len(instance.site.asked) == 2
    instance.site.down, instance.site.text = None, "second"
    assert instance.read(later + RETRY_AFTER) == "second"


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_an_emptied_file_does_not_replace_a_good_copy(text: str) -> None:
    instance = Instance()
    instance.read(NOON)
    instance.site.text = text
    assert instance.read(NOON + FRESH_FOR) == "first"
    assert instance.log.entries[-1] == DocumentsEvent(result="stale_served", reason="empty")
    assert instance.archive.copies[URL].document.text == "first"


def test_a_304_to_an_unconditional_request_is_a_failure() -> None:
    instance = Instance()
    instance.site.lies = True
    assert refusal(lambda: instance.read(NOON)).code is ErrorCode.DOCUMENTS_UNAVAILABLE


def test_a_broken_archive_changes_nothing_for_the_visitor() -> None:
    instance = Instance()
    instance.archive.broken = True
    assert instance.read(NOON) == "first"
    assert instance.read(NOON + FRESH_FOR) == "first"


def test_a_defect_pauses_fetching_and_leaves_no_lock_behind() -> None:
    site, log = Site(), EventLog()

    def defective(raw: str, site_url: str) -> DocumentSet:
        raise ArithmeticError

    cache = LlmsFullCache(SITE, site, Archive(), defective, log)
    with pytest.raises(ArithmeticError):
        cache.current(NOON)
    assert refusal(lambda: cache.current(NOON)).code is ErrorCode.DOCUMENTS_UNAVAILABLE
    assert len(site.asked) == 1


def test_without_a_site_the_deployment_is_misconfigured() -> None:
    instance = Instance(site_url="")
    assert refusal(lambda: instance.read(NOON)).code is ErrorCode.MISCONFIGURED
    assert instance.site.asked == []
    assert instance.archive.loads == 0


# The address of the file


@pytest.mark.parametrize(
    ("site", "url"),
    [
        ("https://docs.example", "https://docs.example/llms-full.txt"),
        ("https://docs.example/", "https://docs.example/llms-full.txt"),
        ("https://docs.example//", "https://docs.example/llms-full.txt"),
        ("https://docs.example/en/v2", "https://docs.example/en/v2/llms-full.txt"),
        ("https://docs.example/en/v2/", "https://docs.example/en/v2/llms-full.txt"),
        ("https://docs.example/ja/llms-full.txt", "https://docs.example/ja/llms-full.txt"),
        ("https://docs.example/all.txt", "https://docs.example/all.txt"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/llms-full.txt"),
        ("https://docs.txt", "https://docs.txt/llms-full.txt"),
    ],
)
def test_document_url(site: str, url: str) -> None:
    assert document_url(site) == url
