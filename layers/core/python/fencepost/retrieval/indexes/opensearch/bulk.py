"""Writing in bulk: what is throttled is tried again, inside one deadline."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import batched, count
from typing import Any, Final

from fencepost.retrieval.domain.search import IndexUnavailable
from fencepost.retrieval.indexes.opensearch.cluster import Cluster, is_passing, refusal

AT_ONCE: Final = 100
"""Documents in one request: two vectors of a thousand dimensions each are some 4 MB of JSON."""
DELETED_AT_ONCE: Final = 500
"""Ids in one request."""
PAUSE_SECONDS: Final = 0.1
"""Before the second attempt; doubled for each further one, and then shortened at random."""
_GONE: Final = 404

type BulkAction = tuple[dict[str, Any], dict[str, Any] | None]
"""The line that says what to do, and the document where there is one."""
type BulkItem = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bulk:
    """Bulk requests to one cluster.

    Args:
        timer: a clock that never goes back, in seconds.
        pause: waits.
    """

    cluster: Cluster
    timer: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep

    def index(self, name: str, documents: Sequence[dict[str, Any]]) -> tuple[str, ...]:
        """Write documents, and return what the index calls each.

        Raises:
            IndexUnavailable: one of them was refused. Some may have been written.
        """
        return tuple(str(item["_id"]) for item in self._run([self._writing(name, one) for one in documents]))

    def delete(self, name: str, ids: Sequence[str]) -> list[str]:
        """Delete by id, and return those that were not there.

        Raises:
            IndexUnavailable: one of them was refused.
        """
        items = self._run([({"delete": {"_index": name, "_id": one}}, None) for one in ids], DELETED_AT_ONCE)
        return [one for one, item in zip(ids, items, strict=True) if item["status"] == _GONE]

    def _writing(self, name: str, document: dict[str, Any]) -> BulkAction:
        # With an id of ours a repeated request writes nothing twice.
        named = {"_id": document["entry"]} if self.cluster.client_ids else {}
        return {"index": {"_index": name, **named}}, document

    def _run(self, actions: Sequence[BulkAction], at_once: int = AT_ONCE) -> list[BulkItem]:
        deadline = self.timer() + self.cluster.limits.writes
        return [item for batch in batched(actions, at_once, strict=False) for item in self._persist(batch, deadline)]

    def _persist(self, actions: Sequence[BulkAction], deadline: float) -> list[BulkItem]:
        done: dict[int, BulkItem] = {}
        for attempt in count():
            left = [place for place in range(len(actions)) if place not in done]
            if not left:
                break
            if attempt:
                self._wait(attempt, deadline)
            done |= self._attempt(actions, left)
        return [done[place] for place in range(len(actions))]

    def _attempt(self, actions: Sequence[BulkAction], places: list[int]) -> dict[int, BulkItem]:
        """Send what is left; return what came through, by its place."""
        try:
            items = self._send([actions[place] for place in places])
        except IndexUnavailable as error:
            # A throttled request did nothing. Of others nobody knows, and repeating them could write twice.
            if error.reason == "throttled" or (error.retriable and self.cluster.client_ids):
                return {}
            raise
        return {place: item for place, item in zip(places, items, strict=True) if not _is_throttled(item)}

    def _send(self, actions: Sequence[BulkAction]) -> list[BulkItem]:
        lines = [line for action in actions for line in action if line is not None]
        patience = self.cluster.patience(self.cluster.limits.write)
        answer = self.cluster.call(lambda client: client.bulk(body=lines, params={"request_timeout": patience}))
        return [next(iter(item.values())) for item in answer["items"]]

    def _wait(self, attempt: int, deadline: float) -> None:
        seconds = PAUSE_SECONDS * 2 ** (attempt - 1) * random.uniform(0.5, 1)  # noqa: S311 - spreads, protects nothing
        if self.timer() + seconds > deadline:
            raise IndexUnavailable("throttled")
        self.pause(seconds)


def _is_throttled(item: BulkItem) -> bool:
    """Tell whether a document may be sent again; raise where it was refused for good."""
    status = item["status"]
    if "error" not in item or status == _GONE:
        return False
    if is_passing(status):
        return True
    raise refusal(status, str(item["error"].get("type", "")))
