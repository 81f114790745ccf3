"""Bulk writes, in which throttled documents are retried within one deadline."""

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
"""Documents in one request. With two vectors of a thousand dimensions each, they are some 4 MB of JSON."""
DELETED_AT_ONCE: Final = 500
"""Ids in one request."""
PAUSE_SECONDS: Final = 0.1
"""Pause before the second attempt. It doubles with each further attempt, and is shortened at random."""
_GONE: Final = 404

type BulkAction = tuple[dict[str, Any], dict[str, Any] | None]
"""The action line, and the document where the action has one."""
type BulkItem = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bulk:
    """Bulk requests to one cluster.

    Args:
        cluster: the cluster.
        timer: a monotonic clock, in seconds.
        pause: sleeps for some seconds.
    """

    cluster: Cluster
    timer: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep

    def index(self, name: str, documents: Sequence[dict[str, Any]]) -> tuple[str, ...]:
        """Write documents, and return their ids.

        Raises:
            IndexUnavailable: a document was refused. Some may have been written.
        """

        def action(document: dict[str, Any]) -> BulkAction:
            # With an id of ours, a repeated request writes nothing twice.
            named = {"_id": document["entry"]} if self.cluster.client_ids else {}
            return {"index": {"_index": name, **named}}, document

        return tuple(str(item["_id"]) for item in self._run(list(map(action, documents))))

    def delete(self, name: str, ids: Sequence[str]) -> list[str]:
        """Delete documents by id, and return the ids that did not exist.

        Raises:
            IndexUnavailable: a deletion was refused.
        """
        items = self._run([({"delete": {"_index": name, "_id": one}}, None) for one in ids], DELETED_AT_ONCE)
        return [one for one, item in zip(ids, items, strict=True) if item["status"] == _GONE]

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
        """Send the remaining actions; return the results of those that were not throttled, by position."""
        try:
            items = self._send([actions[place] for place in places])
        except IndexUnavailable as error:
            # A throttled request did nothing. Other failed requests may have written; a repetition could write twice.
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
    """Tell whether a document was throttled; raise if it was refused."""
    status = item["status"]
    if "error" not in item or status == _GONE:
        return False
    if is_passing(status):
        return True
    raise refusal(status, str(item["error"].get("type", "")))
