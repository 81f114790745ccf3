"""Looks for what is left of what was forgotten, always anew: the eraser removes what this finds, and so is verified.

What belongs to a conversation or to an owner is told by structure alone, never by a time: a pointer without its
conversation's row, a row in a partition whose conversation is gone, an object without the row that would name it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore
from fencepost.conversations.rows import messages as conversations_keys
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.keys import Key
from fencepost.kernel.aws.legacy.client import ClientFactory, Item, store_errors
from fencepost.kernel.aws.legacy.rows import from_item
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.lifecycle.domain.erasures import ErasedKind
from fencepost.queue.domain import JobRecord, JobState, Purpose

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, QueryInputPaginateTypeDef

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
"""By the first part of a sort key."""
_STAYING = ("gone", "work", "fact", conversations_keys.ERASED)
"""Facts go by themselves, on a condition."""
_ROWS_OF = {"conv": ("conv", "import"), "exports": ("job",), "imports": ("job",), "files": ("file",)}
"""By the first part of an object's name, the kinds of rows that may name it."""
_FIRST_POINTER, _AFTER_POINTERS = "msg#", "msg$"
"""Pointers are many and big, for they hold contexts, and are read by themselves: `$` follows `#`."""


class Leftover(NamedTuple):
    """A row that is left, and what it is."""

    kind: str
    key: Key


class ErasureScan:
    """Finds rows and objects. Each method reads the store as it is at that moment.

    Args:
        table: name of the conversations' table.
        blobs: where objects are looked for.
        client: makes or returns the client.
    """

    def __init__(self, table: str, blobs: BlobStore, client: ClientFactory) -> None:
        self._table = table
        self._blobs = blobs
        self._client = client

    def of_conversation(self, scope: Scope, conversation_id: str) -> Iterator[Leftover]:
        """Yield rows of a conversation that is gone, but for facts that were drawn from it."""
        yield from (leftover(row) for row in self._copies(scope, conversation_id))
        yield from self._pointers(scope, conversation_id)
        yield from self.in_partition(scope, conversation_id)

    def in_partition(self, scope: Scope, conversation_id: str) -> Iterator[Leftover]:
        """Yield rows of a conversation's own partition."""
        partition = keys.conversation(scope, conversation_id)
        yield from (leftover(row) for row in self._query(_all(partition), "pk, sk"))

    def of_owner(self, scope: Scope) -> Iterator[Leftover]:
        """Yield everything in an owner's partition that an erasure removes, but for facts and pointers."""
        yield from (leftover(row) for row in self._beside_pointers(scope) if not _stays(row))

    def stray_pointers(self, scope: Scope) -> Iterator[Leftover]:
        """Yield pointers of an owner that lead to no conversation."""
        # A pointer is stored with its conversation or after it: read first, it is never taken for a stray one.
        found = list(self._query(_prefixed(keys.owner(scope), "msg#"), "pk, sk, conversation_id"))
        living = self._living(scope)
        for row in found:
            if not living & _owners("conv", row["conversation_id"]["S"]):
                yield leftover(row)

    def tombstones(self, scope: Scope, *, unfinished: bool) -> Iterator[str]:
        """Yield ids of conversations that are gone; only of those that are still being swept, where that is asked."""
        for row in self._query(_prefixed(keys.owner(scope), "gone#"), "sk, sweeping"):
            if "sweeping" in row or not unfinished:
                yield _id(row)

    def objects(self, scope: Scope, conversation_id: str | None) -> Iterator[str]:
        """Yield the prefixes of objects that no row names any more: of all of an owner's, or of those that may hold a
        conversation that is gone, or came with it: its own, bundles and files.
        """
        if conversation_id is not None:
            yield objects.conversation(conversation_id)
        yield from self.strays(scope, *(("",) if conversation_id is None else (objects.EXPORTS, objects.FILES)))

    def strays(self, scope: Scope, *below: str) -> Iterator[str]:
        """Yield the prefixes of objects under these that no row names any more."""
        # The row of what is being stored is there before its objects are: listed first, none is taken for a stray one.
        names = chain.from_iterable(self._blobs.names(scope, prefix) for prefix in below)
        stored = {_prefix(name): _named_by(name) for name in names}
        living = self._living(scope)
        yield from (prefix for prefix, rows in stored.items() if not living & rows)

    def files(self, scope: Scope, conversation_id: str, *, is_over: bool = False) -> Iterator[Item]:
        """Yield key and `used_by` of files that a conversation used, and none that is there uses.

        Args:
            scope: the owner's.
            conversation_id: one that is gone, or is about to go because it `is_over`.
        """
        # A conversation is there before it uses a file: with the files read first, none is taken for one that is gone.
        files = list(self._query(_prefixed(keys.owner(scope), "file#"), "pk, sk, used_by"))
        used = [row for row in files if "used_by" in row and conversation_id in row["used_by"]["SS"]]
        living = self._living(scope) if used else set[tuple[str, str]]()
        if is_over:
            living -= _owners("conv", conversation_id)
        for row in used:
            if not living & set(chain.from_iterable(_owners("conv", one) for one in row["used_by"]["SS"])):
                yield row

    def bundles(self, scope: Scope, conversation_id: str) -> Iterator[str]:
        """Yield the objects of bundles that hold a conversation, as long as their rows are there."""
        for row in self._copies(scope, conversation_id):
            yield objects.export_bundle(_id(row))
            yield objects.import_bundle(_id(row))

    def is_there(self, scope: Scope, conversation_id: str) -> bool:
        """Tell whether a conversation of this id is there, or is being written by an import."""
        return any(
            map(
                self._exists,
                (keys.conversation_row(scope, conversation_id), conversations_keys.import_row(scope, conversation_id)),
            )
        )

    def _exists(self, row: Key) -> bool:
        try:
            return "Item" in self._client().get_item(TableName=self._table, Key=row, ConsistentRead=True)
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None

    def _copies(self, scope: Scope, conversation_id: str) -> Iterator[Item]:
        for row in self._query(_prefixed(keys.owner(scope), "job#")):
            if _is_copy(from_item(JobRecord, row), conversation_id):
                yield row

    def facts(self, scope: Scope, conversation_id: str | None) -> Iterator[Leftover]:
        """Yield facts that were drawn from a conversation, as long as its pointers are there; None yields all facts."""
        facts = list(self._query(_prefixed(keys.owner(scope), "fact#")))
        if facts and conversation_id is not None:
            own = {_id(pointer.key) for pointer in self._pointers(scope, conversation_id)}
            facts = [row for row in facts if own & set(_sources(row))]
        yield from map(leftover, facts)

    def _pointers(self, scope: Scope, conversation_id: str) -> Iterator[Leftover]:
        rows = self._query(_prefixed(keys.owner(scope), "msg#"), "pk, sk, conversation_id")
        yield from (leftover(row) for row in rows if row["conversation_id"]["S"] == conversation_id)

    def _living(self, scope: Scope) -> set[tuple[str, str]]:
        """Return kind and id of every row of an owner that may name objects."""
        return {(row["sk"]["S"].partition("#")[0], _id(row)) for row in self._beside_pointers(scope)}

    def _beside_pointers(self, scope: Scope) -> Iterator[Item]:
        for bound in (
            _where("pk = :pk AND sk < :sk", pk=keys.owner(scope), sk=_FIRST_POINTER),
            _where("pk = :pk AND sk > :sk", pk=keys.owner(scope), sk=_AFTER_POINTERS),
        ):
            yield from self._query(bound, "pk, sk, job.purpose")

    def _query(self, conditions: QueryInputPaginateTypeDef, attributes: str | None = None) -> Iterator[Item]:
        request: QueryInputPaginateTypeDef = {**conditions, "TableName": self._table, "ConsistentRead": True}
        if attributes:
            request["ProjectionExpression"] = attributes
        try:
            for page in self._client().get_paginator("query").paginate(**request):
                yield from page["Items"]
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None


def leftover(row: Item) -> Leftover:
    """Return a row's kind and key."""
    name = row["sk"]["S"].partition("#")[0]
    return Leftover(_KINDS.get(name, name), {"pk": row["pk"], "sk": row["sk"]})


def counted(remnants: Iterable[Leftover]) -> Counter[str]:
    """Count rows by kind."""
    return Counter(kind for kind, _ in remnants)


def _stays(row: Item) -> bool:
    """Tell whether a row outlives its owner's erasure: tombstones, and counts, also those in records of erasures."""
    name = row["sk"]["S"].partition("#")[0]
    if name == "job":
        return Purpose(row["job"]["M"]["purpose"]["S"]) is Purpose.ERASE
    return name in _STAYING


def _is_copy(record: JobRecord, conversation_id: str) -> bool:
    """Tell whether a bundle may hold a conversation: its own, everything of its owner, or one that was imported."""
    if record.job.purpose is Purpose.EXPORT:
        return record.job.conversation in (conversation_id, None)
    return record.job.purpose is Purpose.IMPORT and record.state in (JobState.DONE, JobState.FAILED)


def _sources(fact: Item) -> Iterator[str]:
    """Yield the ids of the questions that a fact was drawn from, or whose answers it was."""
    provenance = fact["provenance"]["L"] if "provenance" in fact else ()
    yield from (source["S"].removeprefix("msg:").partition(".")[0] for source in provenance)


def _id(row: Item | Key) -> str:
    return unquote(row["sk"]["S"].partition("#")[2])


def _named_by(name: str) -> set[tuple[str, str]]:
    """Return kind and id of the rows that may name an object."""
    first, _, rest = name.partition("/")
    return _owners(first, unquote(rest.partition("/")[0].removesuffix(".zip")))


def _owners(first: str, row_id: str) -> set[tuple[str, str]]:
    return {(kind, row_id) for kind in _ROWS_OF.get(first, ())}


def _prefix(name: str) -> str:
    """Return an object's folder, below which everything has the same parent; its own name where it has none."""
    first, _, rest = name.partition("/")
    folder, slash, _ = rest.partition("/")
    return f"{first}/{folder}{slash}"


def _all(partition: str) -> QueryInputPaginateTypeDef:
    return _where("pk = :pk", pk=partition)


def _prefixed(partition: str, prefix: str) -> QueryInputPaginateTypeDef:
    return _where("pk = :pk AND begins_with(sk, :prefix)", pk=partition, prefix=prefix)


def _where(condition: str, **values: str) -> QueryInputPaginateTypeDef:
    texts: dict[str, AttributeValueTypeDef] = {f":{name}": {"S": value} for name, value in values.items()}
    return {"TableName": "", "KeyConditionExpression": condition, "ExpressionAttributeValues": texts}
