"""A cache whose entries belong to somebody. What lies under another's key is never handed out, and is reported.

Keys hold the organisation and, where a piece is a conversation's, that conversation and the version of the permission
under which it was read: a revocation raises the version, and so leaves everything behind that was cached before it.
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
    """Where a piece lies. A piece of the whole organisation names no conversation and depends on no permission."""

    org: str
    conversation: str | None = None
    permission_version: int | None = None

    @classmethod
    def of(cls, scope: Scope, conversation_id: str) -> CacheKey:
        """Return the key of a conversation's piece."""
        return cls(scope.org, conversation_id, scope.permission_version)

    def is_within(self, scope: Scope) -> bool:
        """Tell whether the scope may have what lies here."""
        return self.org == scope.org and self.permission_version in (None, scope.permission_version)


@dataclass(frozen=True, slots=True)
class _Entry[Value]:
    key: CacheKey
    value: Value
    until: datetime


class ScopedCache[Value]:
    """Keeps the entries that were put last. Safe in threads.

    Args:
        most: how many entries are kept.
        report: is told of the scope that asked where a key, or the entry under it, is not its own.
    """

    def __init__(self, most: int, report: Callable[[Scope], None]) -> None:
        self._most = most
        self._report = report
        self._entries: OrderedDict[CacheKey, _Entry[Value]] = OrderedDict()
        self._lock = Lock()

    def get(self, scope: Scope, key: CacheKey, now: datetime) -> Value | None:
        """Return what lies under the key; None where there is nothing, where it has ended, or where it is foreign."""
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
        """Keep a value until a moment; not at all under a key that is not the scope's."""
        if not key.is_within(scope):
            self._report(scope)
            return
        with self._lock:
            self._entries[key] = _Entry(key, value, until)
            self._entries.move_to_end(key)
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
