"""A site, an archive and an event log in memory, for tests of the cache of `llms-full.txt`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from fencepost.documents.domain.sections import DocumentSet
from fencepost.documents.ports import ArchivedDocument
from fencepost.documents.service.llms_full_cache import LlmsFullCache
from fencepost.kernel.errors import DocumentsUnreachable, FencepostError, UnreachableReason
from fencepost.kernel.ports import RawDocument, Validators
from fencepost.observability.domain.events import DocumentsEvent, Event
from fencepost.prompting.domain.fence import Section

SITE = "https://docs.example"
URL = "https://docs.example/llms-full.txt"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def split(raw: str, site_url: str) -> DocumentSet:
    """Make one section of the whole file, and none of a blank one."""
    sections = (Section("all#1", "All", site_url, raw),) if raw.strip() else ()
    return DocumentSet(sections, hashlib.sha256(raw.encode()).hexdigest())


def text_of(documents: DocumentSet) -> str:
    return "".join(section.text for section in documents.sections)


class Site:
    """A fetcher whose site has one page, an ETag for each version, and outages."""

    def __init__(self, text: str = "first") -> None:
        self.text = text
        self.down: UnreachableReason | None = None
        self.lies = False
        self.asked: list[Validators] = []
        self.before_answer: Callable[[], object] = lambda: None

    def fetch(self, url: str, known: Validators) -> RawDocument | None:
        assert url == URL
        self.asked.append(known)
        self.before_answer()
        if self.down is not None:
            raise DocumentsUnreachable(self.down)
        return None if self.lies or known == self.validators else RawDocument(self.text, self.validators)

    @property
    def validators(self) -> Validators:
        return Validators(etag=f'"{self.text}"')


class Archive:
    """An archive in memory. A broken one finds nothing and keeps nothing, as the port demands."""

    def __init__(self) -> None:
        self.copies: dict[str, ArchivedDocument] = {}
        self.broken = False
        self.loads = 0
        self.saves = 0

    def load(self, url: str) -> ArchivedDocument | None:
        self.loads += 1
        return None if self.broken else self.copies.get(url)

    def save(self, url: str, copy: ArchivedDocument) -> None:
        self.saves += 1
        if not self.broken:
            self.copies[url] = copy


class EventLog:
    """Collects events."""

    def __init__(self) -> None:
        self.entries: list[DocumentsEvent] = []

    def emit(self, event: Event) -> None:
        assert isinstance(event, DocumentsEvent)
        self.entries.append(event)

    @property
    def results(self) -> list[str]:
        return [entry.result for entry in self.entries]


class Instance:
    """A cache with its own memory and log; the site and the archive may be shared with other instances."""

    def __init__(self, site: Site | None = None, archive: Archive | None = None, site_url: str = SITE) -> None:
        self.site = site or Site()
        self.archive = archive or Archive()
        self.log = EventLog()
        self.cache = LlmsFullCache(site_url, self.site, self.archive, split, self.log)

    def read(self, now: datetime) -> str:
        return text_of(self.cache.current(now))


def archived(text: str, confirmed_at: datetime) -> Archive:
    archive = Archive()
    archive.save(URL, ArchivedDocument(RawDocument(text, Validators(etag=f'"{text}"')), confirmed_at))
    archive.saves = 0
    return archive


def refusal(call: Callable[[], object]) -> FencepostError:
    with pytest.raises(FencepostError) as caught:
        call()
    return caught.value
