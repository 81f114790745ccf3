"""Eraser on DynamoDB and S3.

A conversation's row is replaced by a tombstone in one transaction: from then on no reader finds the conversation, and
every writer fails on a condition. Its other rows are swept afterwards, in as many calls as it takes. Until the sweep is
complete, the tombstone has the attribute `sweeping`, and no conversation may be made under the same id: the sweep would
take the new conversation's rows for the erased one's.
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
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.lifecycle.domain.erasures import ErasedKind
from fencepost.lifecycle.dynamodb.erasure_scan import ErasureScan, Leftover, count_by_kind, leftover
from fencepost.lifecycle.dynamodb.removal import Removal
from fencepost.lifecycle.ports import Eraser

_WITH_PARTITION = (ErasedKind.CONVERSATIONS, ErasedKind.IMPORTS)
"""Rows that have a partition of their own to be swept. Each is replaced by a tombstone."""


class DynamoDbEraser(Eraser):
    """Erases conversations and owners.

    Args:
        table: name of the conversations' table.
        blobs: store of the owner's objects.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, blobs: BlobStore, client: ClientFactory = dynamodb_client) -> None:
        self._blobs = blobs
        self._scan = ErasureScan(table, blobs, client)
        self._removal = Removal(table, client)

    @override
    def forget_conversation(self, scope: Scope, conversation_id: str, now: datetime) -> bool:
        return self._removal.enqueue_removal(keys.conversation_row(scope, conversation_id), now)

    @override
    def forget_owner(self, scope: Scope, now: datetime) -> dict[str, int]:
        # First of all, so that no running job can store again what is removed below.
        self._removal.mark_owner(scope, now)
        forgotten = Counter[str]({ErasedKind.FACTS: self._remove_facts(scope, None)})
        for kind, group in _by_kind(self._scan.of_owner(scope)):
            rows = [leftover.key for leftover in group]
            forgotten[kind] += len(rows)
            if kind in _WITH_PARTITION:
                self._removal.enqueue_removals(rows, now)
            else:
                self._removal.remove(rows)
        return dict(+forgotten)

    @override
    def sweep(self, scope: Scope, conversation_id: str | None, budget: int) -> dict[str, int]:
        if conversation_id is None:
            return dict(self._sweep_owner(scope, budget))
        if not self._removal.start_sweeping(scope, conversation_id):
            return {}
        # First the leftovers that are found by rows removed below: bundles by their jobs, facts by pointers.
        bundles = self._delete_objects(scope, self._scan.bundles(scope, conversation_id))
        facts = self._remove_facts(scope, conversation_id)
        files = self._removal.remove_unused(list(self._scan.files(scope, conversation_id)))
        swept = Counter[str]({ErasedKind.OBJECTS: bundles, ErasedKind.FACTS: facts, ErasedKind.ATTACHMENTS: files})
        rows = self._scan.of_conversation(scope, conversation_id)
        return dict(+(swept + self._sweep_rows(scope, conversation_id, rows, budget)))

    @override
    def leftovers(self, scope: Scope, conversation_id: str | None) -> dict[str, int]:
        """Count the leftovers. A conversation that an import has made again has none."""
        if conversation_id is None:
            return dict(+self._leftovers_of_owner(scope))
        if self._scan.exists(scope, conversation_id):
            return {}
        facts, rows = self._scan.facts(scope, conversation_id), self._scan.of_conversation(scope, conversation_id)
        left = count_by_kind(chain(facts, rows, map(leftover, self._scan.files(scope, conversation_id))))
        left[ErasedKind.OBJECTS] = self._count_objects(scope, self._scan.objects(scope, conversation_id))
        return dict(+left)

    def _sweep_owner(self, scope: Scope, budget: int) -> Counter[str]:
        swept = self._remove(self._scan.orphaned_pointers(scope), budget)
        for conversation_id in self._scan.tombstones(scope, unfinished=True):
            if swept.total() >= budget:
                break
            if self._removal.start_sweeping(scope, conversation_id):
                rows = self._scan.in_partition(scope, conversation_id)
                swept += self._sweep_rows(scope, conversation_id, rows, budget - swept.total())
        swept[ErasedKind.OBJECTS] += self._delete_objects(scope, self._scan.objects(scope, None))
        return +swept

    def _sweep_rows(self, scope: Scope, conversation_id: str, rows: Iterator[Leftover], budget: int) -> Counter[str]:
        """Remove up to `budget` rows and all objects of a conversation; finish the sweep if no row can be left."""
        swept = self._remove(rows, budget)
        complete = swept.total() < budget
        swept[ErasedKind.OBJECTS] += self._delete_objects(scope, self._scan.objects(scope, conversation_id))
        if complete:
            self._removal.finish_sweeping(scope, conversation_id)
        return +swept

    def _remove(self, leftovers: Iterator[Leftover], budget: int) -> Counter[str]:
        removed: Counter[str] = Counter()
        for kind, group in _by_kind(islice(leftovers, budget)):
            rows = [leftover.key for leftover in group]
            self._removal.remove(rows)
            removed[kind] += len(rows)
        return removed

    def _remove_facts(self, scope: Scope, conversation_id: str | None) -> int:
        return self._removal.remove_facts(
            scope, lambda: (fact.key for fact in self._scan.facts(scope, conversation_id))
        )

    def _delete_objects(self, scope: Scope, prefixes: Iterable[str]) -> int:
        return sum(self._blobs.delete(scope, prefix) for prefix in prefixes)

    def _leftovers_of_owner(self, scope: Scope) -> Counter[str]:
        erased = self._scan.tombstones(scope, unfinished=False)
        partitions = (self._scan.in_partition(scope, one) for one in erased if not self._scan.exists(scope, one))
        left = count_by_kind(chain(self._scan.orphaned_pointers(scope), *partitions))
        left[ErasedKind.OBJECTS] = self._count_objects(scope, self._scan.objects(scope, None))
        return left

    def _count_objects(self, scope: Scope, prefixes: Iterable[str]) -> int:
        return sum(1 for prefix in prefixes for _ in self._blobs.names(scope, prefix))


def _by_kind(leftovers: Iterator[Leftover]) -> Iterator[tuple[str, Iterator[Leftover]]]:
    return groupby(leftovers, key=lambda row: row.kind)
