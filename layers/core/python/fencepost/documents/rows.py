"""Rows of documents, their chunks, chunk places and work leases, and the dataclasses that they hold.

All rows of an organisation have partition keys that begin with `org#<org>#corpus`, in the table of documents:

    org#<org>#corpus            doc#<document>                      DocumentRow
    org#<org>#corpus            work#<document>                     DocumentLeaseRow
    org#<org>#corpus            reconcile                           progress of the index diff, see `fencepost.jobs`
    …#corpus#doc#<document>     chunk#<chunk>                       DocumentChunkRow
    …#corpus#doc#<document>     places#<version>#<first digit>      ChunkPlacesRow
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from pynamodb.attributes import BinaryAttribute, NumberAttribute, TTLAttribute, UnicodeAttribute

from fencepost.conversations.rows.messages import expiring
from fencepost.documents.domain.documents import UPLOAD_DAYS, ChunkRow, Document, DocumentState, due_at
from fencepost.documents.ports import ChunkVersionPlace
from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import organisation
from fencepost.kernel.aws.rows import (
    Item,
    Key,
    Row,
    TimestampAttribute,
    TypedAttribute,
    attribute,
    from_item,
    plain,
    timestamp,
    to_item,
)
from fencepost.kernel.ids import quoted
from fencepost.retrieval.rows import pack, unpack

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

BY_CREATION: Final = "by_creation"
"""The local index that lists an organisation's documents by `created_at`. Projects all attributes."""
AGENDA: Final = "agenda"
"""The global index of documents that are due for work, by `due_at`. Projects keys only."""
DUE: Final = "due"
"""The only value of `DocumentRow.agenda`."""
DOCUMENTS: Final = "doc#"
CHUNKS: Final = "chunk#"
HEX_DIGITS: Final = "0123456789abcdef"


class DocumentRow(Row):
    """A document: all fields of `Document`, and those that the indexes need. Written by `DynamoDbDocuments`.

    `agenda` and `due_at` are set only while the document is due at some time (`due_at` in the domain), so the index
    holds no other documents. `expires_at` is set only while an announced upload is awaited.
    """

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#corpus
    sk = UnicodeAttribute(range_key=True)  # doc#<document>
    created_at = TimestampAttribute()  # sort key of `by_creation`
    state = UnicodeAttribute()  # a `DocumentState`
    digest = UnicodeAttribute()  # SHA-256 hex digest of all fields; a change is conditional on it
    agenda = UnicodeAttribute(null=True)
    due_at = TimestampAttribute(null=True)
    expires_at = TTLAttribute(null=True)


class DocumentLeaseRow(Row):
    """The lease of the worker that works on a document. Written by `DynamoDbDocuments`, deleted when the work ends.

    A lease whose `until` has passed is free, whether or not DynamoDB has removed the row yet.
    """

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#corpus
    sk = UnicodeAttribute(range_key=True)  # work#<document>
    holder = UnicodeAttribute()
    until = TimestampAttribute()
    expires_at = TTLAttribute()


class DocumentChunkRow(Row):
    """A chunk: all fields of `ChunkRow`, of any version. Written by `DynamoDbDocuments`; has no TTL."""

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#corpus#doc#<document>
    sk = UnicodeAttribute(range_key=True)  # chunk#<chunk>
    since = NumberAttribute()  # the version that added it
    until = NumberAttribute(null=True)  # the version that no longer has it
    stored_id = UnicodeAttribute()  # id of its index entry
    vector = BinaryAttribute(legacy_encoding=False, null=True)  # in half precision, see `fencepost.retrieval.rows.pack`


class ChunkPlacesRow(Row):
    """Where the chunks of one version stand whose ids begin with one hex digit. Written by `DynamoDbDocuments`.

    Sixteen rows a version keep each below the size limit of an item.
    """

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#corpus#doc#<document>
    sk = UnicodeAttribute(range_key=True)  # places#<version, eight digits>#<hex digit>
    places = TypedAttribute()  # map of chunk id to [ordinal, start, end]


def document_item(scope: Scope, document: Document) -> dict[str, AttributeValueTypeDef]:
    """Return the item of a document, with the attributes of `DocumentRow`."""
    item = to_item(document) | document_row(scope, document.id) | {"digest": attribute(digest(document))}
    if document.state is DocumentState.AWAITED:
        item |= expiring(UPLOAD_DAYS, document.created_at)
    if due := due_at(document):
        item |= {"agenda": attribute(DUE), "due_at": attribute(timestamp(due))}
    return item


def read_document(item: Item) -> Document:
    """Return the document that an item holds."""
    return from_item(Document, item)


def digest(document: Document) -> str:
    """Return the SHA-256 hex digest of all fields of a document."""
    return hashlib.sha256(json.dumps(to_item(document), sort_keys=True).encode()).hexdigest()


def chunk_item(scope: Scope, document_id: str, row: ChunkRow) -> dict[str, AttributeValueTypeDef]:
    """Return the item of a chunk.

    Its vector is packed in half precision, which ranks as well as full precision in a quarter of the space.
    """
    item = to_item(replace(row, vector=())) | chunk_row(scope, document_id, row.id)
    del item["vector"]
    return item | {"vector": {"B": pack(row.vector)}} if row.vector else item


def read_chunk(item: Item) -> ChunkRow:
    """Return the chunk that an item holds."""
    row = from_item(ChunkRow, {name: content for name, content in item.items() if name != "vector"})
    return replace(row, vector=unpack(item["vector"]["B"])) if "vector" in item else row


def places_item(places: Mapping[str, ChunkVersionPlace]) -> dict[str, AttributeValueTypeDef]:
    """Return the attributes of a row of chunk places, without its key."""
    return {"places": attribute({chunk: [place.ordinal, place.start, place.end] for chunk, place in places.items()})}


def read_places(item: Item) -> Mapping[str, ChunkVersionPlace]:
    """Return the chunk places that an item holds, by chunk id."""
    rows: Mapping[str, list[int]] = plain(item["places"])
    return {
        chunk: ChunkVersionPlace(ordinal=int(ordinal), start=int(start), end=int(end))
        for chunk, (ordinal, start, end) in rows.items()
    }


def documents_partition(scope: Scope) -> str:
    """Return the partition of an organisation's documents."""
    return f"{organisation(scope.org)}corpus"


def chunks_partition(scope: Scope, document_id: str) -> str:
    """Return the partition of a document's chunks."""
    return f"{documents_partition(scope)}#doc#{quoted(document_id)}"


def document_row(scope: Scope, document_id: str) -> Key:
    """Return the key of a document."""
    return DocumentRow.key(documents_partition(scope), f"{DOCUMENTS}{quoted(document_id)}")


def work_row(scope: Scope, document_id: str) -> Key:
    """Return the key of the lease of work on a document."""
    return DocumentLeaseRow.key(documents_partition(scope), f"work#{quoted(document_id)}")


def chunk_row(scope: Scope, document_id: str, chunk_id: str) -> Key:
    """Return the key of a chunk."""
    return DocumentChunkRow.key(chunks_partition(scope, document_id), f"{CHUNKS}{quoted(chunk_id)}")


def places_row(scope: Scope, document_id: str, version: int, chunk_id: str) -> Key:
    """Return the key of the row of chunk places that covers a chunk in a version."""
    sort = f"places#{version:08d}#{quoted(chunk_id[:1])}"
    return ChunkPlacesRow.key(chunks_partition(scope, document_id), sort)


def document_of(row: Key) -> tuple[str, str]:
    """Return the organisation and the document id that a document's key names. Readers of the agenda have no scope.

    Raises:
        ValueError: the key is not that of a document.
    """
    partition, sort = row["pk"]["S"], row["sk"]["S"]
    org = partition.removeprefix("org#").removesuffix("#corpus")
    if partition != f"org#{org}#corpus" or not sort.startswith(DOCUMENTS):
        raise ValueError("a document's key is needed")
    return unquote(org), unquote(sort.removeprefix(DOCUMENTS))


def object_prefix(scope: Scope) -> str:
    """Return the prefix of an organisation's S3 objects that have no owner."""
    return f"{quoted(scope.org)}/"
