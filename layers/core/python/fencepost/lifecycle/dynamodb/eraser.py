"""Removes what people said, from the table and from S3.

A conversation's row goes first, in one transaction with its tombstone: from then on nothing reads it, and every writer
fails on a condition. What hangs on it is swept afterwards, in as many calls as it takes. Meanwhile the tombstone says
`sweeping`, and no conversation of the same id may be made: the sweep would take the new one's rows for the old one's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain, groupby, islice
from typing import override

from fencepost.blobs.ports import BlobStore
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.legacy.client import ClientFactory, dynamodb_client
from fencepost.lifecycle.domain.erasures import ErasedKind
from fencepost.lifecycle.dynamodb.erasure_scan import ErasureScan, Leftover, counted, leftover
from fencepost.lifecycle.dynamodb.removal import Removal
from fencepost.lifecycle.ports import Eraser

_BURIED = (ErasedKind.CONVERSATIONS, ErasedKind.IMPORTS)
"""Rows that lead to a partition of their own. A tombstone in their place says that it is to be swept."""


class DynamoDbEraser(Eraser):
    """Implements `fencepost.lifecycle.ports.Eraser`.

    Args:
        table: name of the conversations' table.
        blobs: where the owner's objects are.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, blobs: BlobStore, client: ClientFactory = dynamodb_client) -> None:
        self._blobs = blobs
        self._remains = ErasureScan(table, blobs, client)
        self._removal = Removal(table, client)

    @override
    def forget_conversation(self, scope: Scope, conversation_id: str, now: datetime) -> bool:
        return self._removal.enqueue_removal(keys.conversation_row(scope, conversation_id), now)

    @override
    def forget_owner(self, scope: Scope, now: datetime) -> dict[str, int]:
        # First of all, or a job could write again what was just removed.
        self._removal.mark_owner(scope, now)
        forgotten = Counter[str]({ErasedKind.FACTS: self._remove_facts(scope, None)})
        for kind, group in _by_kind(self._remains.of_owner(scope)):
            rows = [leftover.key for leftover in group]
            forgotten[kind] += len(rows)
            self._removal.bury_all(rows, now) if kind in _BURIED else self._removal.remove(rows)
        return dict(+forgotten)

    @override
    def sweep(self, scope: Scope, conversation_id: str | None, budget: int) -> dict[str, int]:
        if conversation_id is None:
            return dict(self._sweep_owner(scope, budget))
        if not self._removal.hold(scope, conversation_id):
            return {}
        # First what is known by rows that are about to go: bundles by their jobs, facts by pointers.
        bundles = self._drop(scope, self._remains.bundles(scope, conversation_id))
        swept = Counter[str](
            {ErasedKind.OBJECTS: bundles, ErasedKind.FACTS: self._remove_facts(scope, conversation_id)}
        )
        swept[ErasedKind.ATTACHMENTS] = self._removal.remove_unused(list(self._remains.files(scope, conversation_id)))
        rows = self._remains.of_conversation(scope, conversation_id)
        return dict(+(swept + self._sweep(scope, conversation_id, rows, budget)))

    @override
    def leftovers(self, scope: Scope, conversation_id: str | None) -> dict[str, int]:
        """A conversation that came back, by an import, is none."""
        found = self._left_of_owner(scope) if conversation_id is None else self._left_of(scope, conversation_id)
        return dict(+found)

    def _sweep_owner(self, scope: Scope, budget: int) -> Counter[str]:
        swept = self._remove(self._remains.stray_pointers(scope), budget)
        for conversation_id in self._remains.tombstones(scope, unfinished=True):
            if swept.total() >= budget:
                break
            if self._removal.hold(scope, conversation_id):
                rows = self._remains.in_partition(scope, conversation_id)
                swept += self._sweep(scope, conversation_id, rows, budget - swept.total())
        swept[ErasedKind.OBJECTS] += self._drop(scope, self._remains.objects(scope, None))
        return +swept

    def _sweep(self, scope: Scope, conversation_id: str, rows: Iterator[Leftover], budget: int) -> Counter[str]:
        swept = self._remove(rows, budget)
        # What was cut off by the budget is found by the next sweep.
        complete = swept.total() < budget
        swept[ErasedKind.OBJECTS] += self._drop(scope, self._remains.objects(scope, conversation_id))
        if complete:
            self._removal.let_go(scope, conversation_id)
        return +swept

    def _remove(self, remnants: Iterator[Leftover], budget: int) -> Counter[str]:
        removed: Counter[str] = Counter()
        for kind, group in _by_kind(islice(remnants, budget)):
            rows = [leftover.key for leftover in group]
            self._removal.remove(rows)
            removed[kind] += len(rows)
        return removed

    def _remove_facts(self, scope: Scope, conversation_id: str | None) -> int:
        return self._removal.remove_facts(
            scope, lambda: (fact.key for fact in self._remains.facts(scope, conversation_id))
        )

    def _drop(self, scope: Scope, prefixes: Iterable[str]) -> int:
        return sum(self._blobs.delete(scope, prefix) for prefix in prefixes)

    def _left_of(self, scope: Scope, conversation_id: str) -> Counter[str]:
        if self._remains.is_there(scope, conversation_id):
            return Counter()
        facts, rows = self._remains.facts(scope, conversation_id), self._remains.of_conversation(scope, conversation_id)
        left = counted(chain(facts, rows, map(leftover, self._remains.files(scope, conversation_id))))
        left[ErasedKind.OBJECTS] = self._stored(scope, self._remains.objects(scope, conversation_id))
        return left

    def _left_of_owner(self, scope: Scope) -> Counter[str]:
        gone = self._remains.tombstones(scope, unfinished=False)
        partitions = (self._remains.in_partition(scope, one) for one in gone if not self._remains.is_there(scope, one))
        left = counted(chain(self._remains.stray_pointers(scope), *partitions))
        left[ErasedKind.OBJECTS] = self._stored(scope, self._remains.objects(scope, None))
        return left

    def _stored(self, scope: Scope, prefixes: Iterable[str]) -> int:
        return sum(1 for prefix in prefixes for _ in self._blobs.names(scope, prefix))


def _by_kind(remnants: Iterator[Leftover]) -> Iterator[tuple[str, Iterator[Leftover]]]:
    return groupby(remnants, key=lambda row: row.kind)
