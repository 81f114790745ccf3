"""Caches a site's `llms-full.txt`: fetched rarely, shared between instances, served stale if the site fails."""

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
"""How long a copy is used before the site is asked whether it has changed."""
RETRY_AFTER = timedelta(seconds=30)
"""How long no fetch is attempted after one has failed."""

_FILE = "llms-full.txt"
_SECOND = timedelta(seconds=1)


def document_url(site_url: str) -> str:
    """Return the address of a site's file: `<site>/llms-full.txt`, or the setting itself where it names a `.txt`."""
    return site_url if urlsplit(site_url).path.endswith(".txt") else f"{site_url.rstrip('/')}/{_FILE}"


@dataclass(frozen=True, slots=True)
class _CachedCopy:
    """The copy in memory, without the raw text: its sections contain all of it."""

    documents: DocumentSet
    validators: Validators
    confirmed_at: datetime


class LlmsFullCache:
    """Cache of one site's `llms-full.txt`. Threads of an instance share one cache. Implements `SiteDocuments`.

    Most calls return a fresh copy from memory. When the copy is an hour old, one caller asks the site whether it has
    changed; other callers get the old copy at once, or wait if there is none.

    A new instance starts with the archive's copy. If it was confirmed within the last hour, it is used without a fetch.
    Otherwise its validators let the site answer the first fetch with 304 instead of megabytes, and the archive's copy
    is marked as confirmed. An instance with a copy in memory never reads the archive: asking the site is cheaper.

    Args:
        site_url: address of the site or of the file; empty if none is configured.
        fetcher: fetches the file.
        archive: stores the last good copy for all instances.
        split: splits a raw file, given its site's address, into sections.
        events: receives an event for every fetch.
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
        self._copy: _CachedCopy | None = None
        self._asked_at: datetime | None = None
        self._refreshing = Lock()

    def current(self, now: datetime) -> DocumentSet:
        """Return the newest available document set; a stale one if the site does not answer.

        Raises:
            FencepostError: `misconfigured`, no site is configured; `documents_unavailable` with `retry_after`, there
                is no copy at all.
        """
        if not self._is_configured:
            raise FencepostError(ErrorCode.MISCONFIGURED)
        copy = self._copy
        if copy is None:
            with self._refreshing:
                return self._refreshed(now)
        if not _is_within(FRESH_FOR, copy.confirmed_at, now) and self._refreshing.acquire(blocking=False):
            try:
                return self._refreshed(now)
            finally:
                self._refreshing.release()
        return copy.documents

    def _refreshed(self, now: datetime) -> DocumentSet:
        """Return the document set after a refresh, unless another caller has just refreshed it or failed to.

        The caller holds the lock.
        """
        if not self._is_current(now):
            archived = self._archive.load(self._url) if self._copy is None else None
            if archived and self._hold(archived.document, archived.confirmed_at) is None:
                archived = None
            if not self._is_current(now):
                self._ask_site(archived.document if archived else None, now)
        if self._copy is None:
            wait = RETRY_AFTER if self._asked_at is None else self._asked_at + RETRY_AFTER - now
            seconds = -(-max(_SECOND, min(RETRY_AFTER, wait)) // _SECOND)
            raise FencepostError(ErrorCode.DOCUMENTS_UNAVAILABLE, retry_after=seconds)
        return self._copy.documents

    def _is_current(self, now: datetime) -> bool:
        """Tell whether no fetch is needed, or allowed yet."""
        return (self._copy is not None and _is_within(FRESH_FOR, self._copy.confirmed_at, now)) or (
            self._asked_at is not None and _is_within(RETRY_AFTER, self._asked_at, now)
        )

    def _ask_site(self, archived: RawDocument | None, now: datetime) -> None:
        # Set before the fetch: whatever goes wrong, the site is not asked again for a while.
        self._asked_at = now
        try:
            self._fetch(archived, now)
        except DocumentsUnreachable as error:
            result = "unavailable" if self._copy is None else "stale_served"
            self._events.emit(DocumentsEvent(result=result, reason=error.reason))

    def _fetch(self, archived: RawDocument | None, now: datetime) -> None:
        fetched = self._fetcher.fetch(self._url, self._copy.validators if self._copy else Validators())
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
        if self._copy is None:
            raise DocumentsUnreachable("status")
        self._copy = replace(self._copy, confirmed_at=now)
        if archived is not None:
            self._archive.save(self._url, ArchivedDocument(archived, now))
        self._events.emit(DocumentsEvent(result="unchanged"))

    def _hold(self, raw: RawDocument, confirmed_at: datetime) -> DocumentSet | None:
        """Keep a file in memory and return its sections; None for an empty file, which must be a site's mistake."""
        documents = self._split(raw.text, self._url.rpartition("/")[0])
        if not documents.sections:
            return None
        self._copy = _CachedCopy(documents, raw.validators, confirmed_at)
        return documents


def _is_within(span: timedelta, moment: datetime, now: datetime) -> bool:
    """Tell whether a moment is less than a span away, before or after: the clocks of instances differ."""
    return abs(now - moment) < span
