"""Scan for leftovers: rows and objects that an erasure still has to delete.

The eraser deletes what a scan finds, and the verifier counts it. Scans keep no state: each call reads the store again.

Whether something is a leftover follows from structure alone, never from a time: a pointer without its conversation's
row, a row in the partition of an erased conversation, an object without the row that names it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple
from urllib.parse import unquote

from pynamodb.expressions.condition import Condition

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore
from fencepost.conversations.rows.messages import ERASED, import_row
from fencepost.conversations.rows.models import FileRow, PointerRow, TombstoneRow
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.expressions import Selected, all_of
from fencepost.kernel.aws.rows import Item, Key, from_item
from fencepost.kernel.aws.session import ClientFactory
from fencepost.kernel.aws.table import Table
from fencepost.lifecycle.domain.erasures import ErasedKind
from fencepost.lifecycle.rows import ScannedRow
from fencepost.queue.domain import JobRecord, JobState, Purpose

_KINDS = {
    "m": ErasedKind.MESSAGES,
    "block": ErasedKind.ARCHIVES,
    "summary": ErasedKind.SUMMARIES,
    "conv": ErasedKind.CONVERSATIONS,
    "msg": ErasedKind.POINTERS,
    "fact": ErasedKind.FACTS,
    "job": ErasedKind.JOBS,
    "file": ErasedKind.ATTACHMENTS,
    "import": ErasedKind.IMPORTS,
    "work": ErasedKind.LEASES,
    "vec": ErasedKind.PARTS,
}
"""Kinds of rows by the first segment of the sort key."""
_STAYING = ("gone", "work", "fact", ERASED)
"""First segments of rows that are not deleted with the owner's others. Facts are deleted by a conditional write."""
_ROWS_OF = {"conv": ("conv", "import"), "exports": ("job",), "imports": ("job",), "files": ("file",)}
"""Kinds of rows that may name an object, by the first segment of the object's name."""
_FIRST_POINTER, _AFTER_POINTERS = "msg#", "msg$"
"""Bounds of pointers' sort keys: `$` follows `#`. Pointers are many and large, since they hold contexts; they are read
separately from the owner's other rows.
"""

type _RowName = tuple[str, str]
"""First segment of a row's sort key, and the id that follows it."""


class Leftover(NamedTuple):
    """A row that is left, with its kind."""

    kind: str
    key: Key


class ErasureScan:
    """Finds leftover rows and objects. All methods raise `FencepostError` with `conversations_unavailable`.

    Args:
        table: name of the conversations' table.
        blobs: store of the objects.
        client: makes or returns the client.
    """

    def __init__(self, table: str, blobs: BlobStore, client: ClientFactory) -> None:
        self._table = Table(table, client)
        self._blobs = blobs

    def of_conversation(self, scope: Scope, conversation_id: str) -> Iterator[Leftover]:
        """Yield the rows of an erased conversation, except facts that were drawn from it."""
        yield from map(leftover, self._bundle_jobs(scope, conversation_id))
        yield from self._pointers(scope, conversation_id)
        yield from self.in_partition(scope, conversation_id)

    def in_partition(self, scope: Scope, conversation_id: str) -> Iterator[Leftover]:
        """Yield the rows of a conversation's partition."""
        partition = ScannedRow.pk == keys.conversation(scope, conversation_id)
        yield from map(leftover, self._query(partition))

    def of_owner(self, scope: Scope) -> Iterator[Leftover]:
        """Yield the rows that an erasure removes from an owner's partition, except facts and pointers.

        Tombstones, counters and records of erasures are not among them: they outlive the erasure.
        """
        for row in self._rows_beside_pointers(scope):
            kind, _ = _name(row)
            is_receipt = kind == "job" and Purpose(row["job"]["M"]["purpose"]["S"]) is Purpose.ERASE
            if kind not in _STAYING and not is_receipt:
                yield leftover(row)

    def orphaned_pointers(self, scope: Scope) -> Iterator[Leftover]:
        """Yield an owner's pointers whose conversation does not exist."""
        # A pointer is stored with its conversation or after it. Pointers are read first, so a pointer that is stored
        # during the scan is not taken for an orphan.
        pointers = list(self._query_prefix(scope, "msg#", PointerRow.conversation_id))
        existing = self._existing(scope)
        for row in pointers:
            if not existing & _row_names("conv", row["conversation_id"]["S"]):
                yield leftover(row)

    def tombstones(self, scope: Scope, *, unfinished: bool) -> Iterator[str]:
        """Yield the ids of an owner's erased conversations; with `unfinished`, of those whose sweep is not complete."""
        for row in self._query_prefix(scope, "gone#", TombstoneRow.sweeping):
            if "sweeping" in row or not unfinished:
                yield _id(row)

    def objects(self, scope: Scope, conversation_id: str | None) -> Iterator[str]:
        """Yield the prefixes of orphaned objects.

        Args:
            scope: the owner's.
            conversation_id: an erased conversation: its own objects, and orphaned bundles and files, which may hold
                content of it; None yields all orphaned objects of the owner.
        """
        if conversation_id is not None:
            yield objects.conversation(conversation_id)
        yield from self.orphaned_objects(
            scope, *(("",) if conversation_id is None else (objects.EXPORTS, objects.FILES))
        )

    def orphaned_objects(self, scope: Scope, *below: str) -> Iterator[str]:
        """Yield the prefixes of objects, below those given, that no row names."""
        # An object is stored after the row that names it. Objects are listed first, so an object that is stored during
        # the scan is not taken for an orphan. Objects below the same two segments are named by the same row.
        stored = dict[str, set[_RowName]]()
        for name in chain.from_iterable(self._blobs.names(scope, prefix) for prefix in below):
            kind, _, rest = name.partition("/")
            folder, slash, _ = rest.partition("/")
            stored[f"{kind}/{folder}{slash}"] = _row_names(kind, unquote(folder.removesuffix(".zip")))
        existing = self._existing(scope)
        yield from (prefix for prefix, rows in stored.items() if not existing & rows)

    def files(self, scope: Scope, conversation_id: str, *, is_over: bool = False) -> Iterator[Item]:
        """Yield key and `used_by` of files that a conversation used and no existing conversation uses.

        Args:
            scope: the owner's.
            conversation_id: an erased conversation, or one that `is_over` and about to be removed.
            is_over: do not count the conversation itself as existing.
        """
        # A conversation exists before it uses a file. Files are read first, so a conversation that is made during the
        # scan is not taken for an erased one.
        files = list(self._query_prefix(scope, "file#", FileRow.used_by))
        used = [row for row in files if "used_by" in row and conversation_id in row["used_by"]["SS"]]
        existing = self._existing(scope) if used else set[_RowName]()
        if is_over:
            existing -= _row_names("conv", conversation_id)
        for row in used:
            if not existing & set(chain.from_iterable(_row_names("conv", one) for one in row["used_by"]["SS"])):
                yield row

    def bundles(self, scope: Scope, conversation_id: str) -> Iterator[str]:
        """Yield the objects of bundles that may hold a conversation, as long as the rows of their jobs exist."""
        for row in self._bundle_jobs(scope, conversation_id):
            yield objects.export_bundle(_id(row))
            yield objects.import_bundle(_id(row))

    def exists(self, scope: Scope, conversation_id: str) -> bool:
        """Tell whether a conversation exists, or an import is writing it."""
        rows = keys.conversation_row(scope, conversation_id), import_row(scope, conversation_id)
        return any(self._table.get(row) is not None for row in rows)

    def facts(self, scope: Scope, conversation_id: str | None) -> Iterator[Leftover]:
        """Yield facts that were drawn from a conversation, as long as its pointers exist; None yields all facts."""
        facts = list(self._table.query(_prefixed(scope, "fact#")))
        if facts and conversation_id is not None:
            questions = {_id(pointer.key) for pointer in self._pointers(scope, conversation_id)}
            facts = [row for row in facts if questions & set(_questions_behind(row))]
        yield from map(leftover, facts)

    def _bundle_jobs(self, scope: Scope, conversation_id: str) -> Iterator[Item]:
        """Yield the rows of jobs whose bundle may hold a conversation.

        These are exports of the conversation or of everything of its owner, and imports that have ended.
        """
        for row in self._table.query(_prefixed(scope, "job#")):
            record = from_item(JobRecord, row)
            exported = record.job.purpose is Purpose.EXPORT and record.job.conversation in (conversation_id, None)
            ended = record.state in (JobState.DONE, JobState.FAILED)
            if exported or (record.job.purpose is Purpose.IMPORT and ended):
                yield row

    def _pointers(self, scope: Scope, conversation_id: str) -> Iterator[Leftover]:
        rows = self._query_prefix(scope, "msg#", PointerRow.conversation_id)
        yield from (leftover(row) for row in rows if row["conversation_id"]["S"] == conversation_id)

    def _existing(self, scope: Scope) -> set[_RowName]:
        """Return the names of all rows of an owner that may name objects."""
        return set(map(_name, self._rows_beside_pointers(scope)))

    def _rows_beside_pointers(self, scope: Scope) -> Iterator[Item]:
        partition = ScannedRow.pk == keys.owner(scope)
        for bound in (ScannedRow.sk < _FIRST_POINTER, ScannedRow.sk > _AFTER_POINTERS):
            yield from self._query(partition & bound, ScannedRow.job_purpose)

    def _query_prefix(self, scope: Scope, prefix: str, *attributes: Selected) -> Iterator[Item]:
        return self._query(_prefixed(scope, prefix), *attributes)

    def _query(self, condition: Condition, *attributes: Selected) -> Iterator[Item]:
        """Yield keys and these attributes."""
        return self._table.query(condition, ScannedRow.pk, ScannedRow.sk, *attributes)


def leftover(row: Item) -> Leftover:
    """Return the kind and the key of a row."""
    name, _ = _name(row)
    return Leftover(_KINDS.get(name, name), ScannedRow.key_of(row))


def count_by_kind(leftovers: Iterable[Leftover]) -> Counter[str]:
    """Count rows by kind."""
    return Counter(kind for kind, _ in leftovers)


def _prefixed(scope: Scope, prefix: str) -> Condition:
    return all_of(ScannedRow.pk == keys.owner(scope), ScannedRow.sk.startswith(prefix))


def _questions_behind(fact: Item) -> Iterator[str]:
    """Yield the ids of the questions that a fact was drawn from, or whose answers it was drawn from."""
    provenance = fact["provenance"]["L"] if "provenance" in fact else ()
    yield from (source["S"].removeprefix("msg:").partition(".")[0] for source in provenance)


def _name(row: Item | Key) -> _RowName:
    return row["sk"]["S"].partition("#")[0], _id(row)


def _id(row: Item | Key) -> str:
    return unquote(row["sk"]["S"].partition("#")[2])


def _row_names(kind: str, row_id: str) -> set[_RowName]:
    """Return the names of the rows that may name objects of a kind and id."""
    return {(row_kind, row_id) for row_kind in _ROWS_OF.get(kind, ())}
