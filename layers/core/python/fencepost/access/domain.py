"""A cache bound to scopes. Entries of other organisations are never returned, and each such attempt is reported.

Keys contain the organisation. Keys of a conversation's data also contain the conversation and the permission version
that the data was read under: a revocation raises that version, so entries from before it are never found again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from fencepost.identity.domain.scope import Scope


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Key of an entry. Data of a whole organisation has neither conversation nor permission version."""

    org: str
    conversation: str | None = None
    permission_version: int | None = None

    @classmethod
    def of(cls, scope: Scope, conversation_id: str) -> CacheKey:
        """Return the key of a conversation's data, under the scope's permission version."""
        return cls(scope.org, conversation_id, scope.permission_version)

    def is_within(self, scope: Scope) -> bool:
        """Tell whether the scope may read an entry under this key."""
        return self.org == scope.org and self.permission_version in (None, scope.permission_version)


@dataclass(frozen=True, slots=True)
class _Entry[Value]:
    key: CacheKey
    value: Value
    until: datetime


class ScopedCache[Value]:
    """Cache of the most recently stored entries. Safe in threads.

    Args:
        most: number of entries that are kept.
        report: called with the scope of an access whose key, or the entry under it, belongs to another scope.
    """

    def __init__(self, most: int, report: Callable[[Scope], None]) -> None:
        self._most = most
        self._report = report
        self._entries: OrderedDict[CacheKey, _Entry[Value]] = OrderedDict()
        self._lock = Lock()

    def get(self, scope: Scope, key: CacheKey, now: datetime) -> Value | None:
        """Return the value under a key; None if it is absent, expired, or of another scope."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and now >= entry.until:
                del self._entries[key]
                entry = None
        if not key.is_within(scope) or (entry is not None and entry.key != key):
            self._report(scope)
            return None
        return entry.value if entry else None

    def put(self, scope: Scope, key: CacheKey, value: Value, until: datetime) -> None:
        """Store a value until a moment. A key of another scope stores nothing."""
        if not key.is_within(scope):
            self._report(scope)
            return
        with self._lock:
            self._entries[key] = _Entry(key, value, until)
            self._entries.move_to_end(key)
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
