"""The documents that answers draw on: fetched rarely, shared, and served stale rather than not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock
from urllib.parse import urlsplit

from fencepost.documents.domain.sections import DocumentSet
from fencepost.documents.ports import ArchivedDocument, DocumentArchive
from fencepost.kernel.errors import DocumentsUnreachable, ErrorCode, FencepostError
from fencepost.kernel.ports import DocumentFetcher, RawDocument, Validators
from fencepost.observability.domain.events import DocumentsEvent
from fencepost.observability.ports import Events

FRESH_FOR = timedelta(hours=1)
"""How long a copy is used before the site is asked again."""
RETRY_AFTER = timedelta(seconds=30)
"""How long nothing is fetched after a failure."""

_FILE = "llms-full.txt"
_SECOND = timedelta(seconds=1)


def document_url(site_url: str) -> str:
    """Return the address of a site's file: `<site>/llms-full.txt`, or the setting itself where it names a `.txt`."""
    return site_url if urlsplit(site_url).path.endswith(".txt") else f"{site_url.rstrip('/')}/{_FILE}"


@dataclass(frozen=True, slots=True)
class _Held:
    """What is in memory. The raw text is not: the sections hold all of it."""

    documents: DocumentSet
    validators: Validators
    confirmed_at: datetime


class LlmsFullCache:
    """The `LlmsFullCache` port for one site. Made once for an instance and shared by its threads.

    Most calls touch nothing but a fresh copy in memory. When it is an hour old, one caller asks the site whether it
    has changed; the others get the old copy at once, or wait where there is none.

    A new instance begins with the archive's copy. Confirmed within the hour, it is used without any fetch; otherwise
    its validators make the first fetch a 304 rather than megabytes, and the archive is told that the copy still holds.
    An instance with a copy in memory never reads the archive: asking the site is cheaper.

    Args:
        site_url: the site, or its file; empty where none is configured.
        fetcher: reads the file.
        archive: keeps the last good copy for all instances.
        split: turns a raw file and its site's address into sections.
        events: where every fetch is reported.
    """

    def __init__(
        self,
        site_url: str,
        fetcher: DocumentFetcher,
        archive: DocumentArchive,
        split: Callable[[str, str], DocumentSet],
        events: Events,
    ) -> None:
        self._is_configured = bool(site_url)
        self._url = document_url(site_url)
        self._fetcher = fetcher
        self._archive = archive
        self._split = split
        self._events = events
        self._held: _Held | None = None
        self._asked_at: datetime | None = None
        self._refreshing = Lock()

    def current(self, now: datetime) -> DocumentSet:
        """Return the newest set that can be had, a stale one where the site does not answer.

        Raises:
            FencepostError: `misconfigured` without a site; `documents_unavailable` with `retry_after` where there is
                no copy at all.
        """
        if not self._is_configured:
            raise FencepostError(ErrorCode.MISCONFIGURED)
        held = self._held
        if held is None:
            with self._refreshing:
                return self._refreshed(now)
        if not _is_within(FRESH_FOR, held.confirmed_at, now) and self._refreshing.acquire(blocking=False):
            try:
                return self._refreshed(now)
            finally:
                self._refreshing.release()
        return held.documents

    def _refreshed(self, now: datetime) -> DocumentSet:
        """Bring the copy up to date, unless somebody did, or failed to, just before this caller's turn."""
        if not self._is_settled(now):
            archived = self._restored() if self._held is None else None
            if not self._is_settled(now):
                self._ask_site(archived, now)
        if self._held is None:
            raise FencepostError(ErrorCode.DOCUMENTS_UNAVAILABLE, retry_after=self._seconds_to_retry(now))
        return self._held.documents

    def _is_settled(self, now: datetime) -> bool:
        return (self._held is not None and _is_within(FRESH_FOR, self._held.confirmed_at, now)) or (
            self._asked_at is not None and _is_within(RETRY_AFTER, self._asked_at, now)
        )

    def _restored(self) -> RawDocument | None:
        archived = self._archive.load(self._url)
        if archived is None or self._hold(archived.document, archived.confirmed_at) is None:
            return None
        return archived.document

    def _ask_site(self, archived: RawDocument | None, now: datetime) -> None:
        # First of all: whatever goes wrong below, the site is left alone for a while.
        self._asked_at = now
        try:
            self._fetch(archived, now)
        except DocumentsUnreachable as error:
            result = "unavailable" if self._held is None else "stale_served"
            self._events.emit(DocumentsEvent(result=result, reason=error.reason))

    def _fetch(self, archived: RawDocument | None, now: datetime) -> None:
        fetched = self._fetcher.fetch(self._url, self._held.validators if self._held else Validators())
        if fetched is None:
            self._renew(archived, now)
            return
        documents = self._hold(fetched, now)
        if documents is None:
            raise DocumentsUnreachable("empty")
        self._archive.save(self._url, ArchivedDocument(fetched, now))
        self._events.emit(
            DocumentsEvent(result="fetched", sections=len(documents.sections), size_bytes=len(fetched.text.encode()))
        )

    def _renew(self, archived: RawDocument | None, now: datetime) -> None:
        if self._held is None:
            raise DocumentsUnreachable("status")
        self._held = replace(self._held, confirmed_at=now)
        if archived is not None:
            self._archive.save(self._url, ArchivedDocument(archived, now))
        self._events.emit(DocumentsEvent(result="unchanged"))

    def _hold(self, raw: RawDocument, confirmed_at: datetime) -> DocumentSet | None:
        """Keep the file in memory, or return None where nothing is in it: an emptied file is an accident."""
        documents = self._split(raw.text, self._url.rpartition("/")[0])
        if not documents.sections:
            return None
        self._held = _Held(documents, raw.validators, confirmed_at)
        return documents

    def _seconds_to_retry(self, now: datetime) -> int:
        left = RETRY_AFTER if self._asked_at is None else self._asked_at + RETRY_AFTER - now
        return -(-max(_SECOND, min(RETRY_AFTER, left)) // _SECOND)


def _is_within(span: timedelta, moment: datetime, now: datetime) -> bool:
    """Tell whether the moment is near, on either side: the clocks of instances differ, and some are set back."""
    return abs(now - moment) < span
