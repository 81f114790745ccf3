"""Documents and chunks as items of the corpus' table, and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from fencepost.conversations.rows.messages import expiring
from fencepost.documents.domain.documents import UPLOAD_DAYS, ChunkRow, Document, DocumentState, due_at
from fencepost.documents.ports import ChunkVersionPlace
from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import organisation
from fencepost.kernel.aws.keys import Key, key
from fencepost.kernel.aws.legacy.client import Item
from fencepost.kernel.aws.legacy.rows import attribute, from_item, plain, timestamp, to_item
from fencepost.kernel.ids import quoted
from fencepost.retrieval.rows import pack, unpack

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef


type ItemAttributes = dict[str, AttributeValueTypeDef]
DIGEST: Final = "digest"
"""Of all that a document's row says: what a change is compared with."""
_VECTOR: Final = "vector"
_PLACES: Final = "places"


def document_item(scope: Scope, document: Document) -> ItemAttributes:
    """Return a document's item, with what the agenda needs where it waits for work."""
    fields = to_item(document)
    item = fields | document_row(scope, document.id) | {DIGEST: {"S": digest(document)}}
    if document.state is DocumentState.AWAITED:
        item |= expiring(UPLOAD_DAYS, document.created_at)
    if due := due_at(document):
        item |= {AGENDA: {"S": DUE}, DUE_AT: {"S": timestamp(due)}}
    return item


def read_document(item: Item) -> Document:
    """Return the document that an item holds."""
    return from_item(Document, item)


def digest(document: Document) -> str:
    """Return a hash of all that a document's row says."""
    return hashlib.sha256(json.dumps(to_item(document), sort_keys=True).encode()).hexdigest()


def chunk_item(scope: Scope, document_id: str, row: ChunkRow) -> ItemAttributes:
    """Return a chunk's item. Its vector is packed in half precision, which ranks as well in a quarter of the room."""
    fields = to_item(replace(row, vector=()))
    packed: ItemAttributes = {_VECTOR: {"B": pack(row.vector)}} if row.vector else {}
    kept = {name: content for name, content in fields.items() if name != _VECTOR}
    return kept | chunk_row(scope, document_id, row.id) | packed


def read_chunk(item: Item) -> ChunkRow:
    """Return the chunk that an item holds."""
    row = from_item(ChunkRow, {name: content for name, content in item.items() if name != _VECTOR})
    return replace(row, vector=unpack(item[_VECTOR]["B"])) if _VECTOR in item else row


def places_item(places: Mapping[str, ChunkVersionPlace]) -> ItemAttributes:
    """Return what a row says of where chunks stand."""
    return {_PLACES: attribute({chunk: [place.ordinal, place.start, place.end] for chunk, place in places.items()})}


def read_places(item: Item) -> Mapping[str, ChunkVersionPlace]:
    """Return where the chunks of a row stand, by their ids."""
    rows: Mapping[str, list[int]] = plain(item[_PLACES])
    return {
        chunk: ChunkVersionPlace(ordinal=int(ordinal), start=int(start), end=int(end))
        for chunk, (ordinal, start, end) in rows.items()
    }


BY_CREATION: Final = "by_creation"
"""The index by which documents are listed."""
AGENDA: Final = "agenda"
"""The index of what is due, and the name of its partition key; its one value is `DUE`."""
DUE: Final = "due"
DUE_AT: Final = "due_at"
DOCUMENTS: Final = "doc#"
CHUNKS: Final = "chunk#"
HEX_DIGITS: Final = "0123456789abcdef"


def corpus(scope: Scope) -> str:
    """Return the partition of an organisation's documents."""
    return f"{organisation(scope.org)}corpus"


def document(scope: Scope, document_id: str) -> str:
    """Return the partition of a document's chunks."""
    return f"{corpus(scope)}#doc#{quoted(document_id)}"


def document_row(scope: Scope, document_id: str) -> Key:
    """Return the key of a document."""
    return key(corpus(scope), f"{DOCUMENTS}{quoted(document_id)}")


def work_row(scope: Scope, document_id: str) -> Key:
    """Return the key of the lease of work on a document."""
    return key(corpus(scope), f"work#{quoted(document_id)}")


def chunk_row(scope: Scope, document_id: str, chunk_id: str) -> Key:
    """Return the key of a chunk."""
    return key(document(scope, document_id), f"{CHUNKS}{quoted(chunk_id)}")


def places_row(scope: Scope, document_id: str, version: int, chunk_id: str) -> Key:
    """Return the key of the row that tells, among others, where a chunk stands in a version."""
    return key(document(scope, document_id), f"places#{version:08d}#{quoted(chunk_id[:1])}")


def document_of(row: Key) -> tuple[str, str]:
    """Return organisation and document of a document's key: whoever reads the agenda has no scope yet.

    Raises:
        ValueError: it is the key of something else.
    """
    partition, sort = row["pk"]["S"], row["sk"]["S"]
    org = partition.removeprefix("org#").removesuffix("#corpus")
    if partition != f"org#{org}#corpus" or not sort.startswith(DOCUMENTS):
        raise ValueError("a document's key is needed")
    return unquote(org), unquote(sort.removeprefix(DOCUMENTS))


def object_prefix(scope: Scope) -> str:
    """Return the prefix of what an organisation has in S3 that belongs to nobody in it."""
    return f"{quoted(scope.org)}/"
