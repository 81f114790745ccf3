"""Documents and chunks as items of the corpus' table, and back."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from fencepost.adapters.dynamodb import corpus_keys as keys
from fencepost.adapters.dynamodb.client import Item
from fencepost.adapters.dynamodb.message_rows import expiring
from fencepost.adapters.dynamodb.rows import attribute, from_item, plain, timestamp, to_item
from fencepost.domain.corpus import ChunkRow, Document, DocumentState
from fencepost.domain.identity import Scope
from fencepost.domain.ingestion import UPLOAD_DAYS, due_at
from fencepost.domain.retrieval import Vector
from fencepost.ports import Place

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

type Attributes = dict[str, AttributeValueTypeDef]

DIGEST: Final = "digest"
"""Of all that a document's row says: what a change is compared with."""
_VECTOR: Final = "vector"
_PLACES: Final = "places"
_HALF_BYTES: Final = 2


def document_item(scope: Scope, document: Document) -> Attributes:
    """Return a document's item, with what the agenda needs where it waits for work."""
    fields = to_item(document)
    item = fields | keys.document_row(scope, document.id) | {DIGEST: {"S": digest(document)}}
    if document.state is DocumentState.AWAITED:
        item |= expiring(UPLOAD_DAYS, document.created_at)
    if due := due_at(document):
        item |= {keys.AGENDA: {"S": keys.DUE}, keys.DUE_AT: {"S": timestamp(due)}}
    return item


def read_document(item: Item) -> Document:
    """Return the document that an item holds."""
    return from_item(Document, item)


def digest(document: Document) -> str:
    """Return a hash of all that a document's row says."""
    return hashlib.sha256(json.dumps(to_item(document), sort_keys=True).encode()).hexdigest()


def chunk_item(scope: Scope, document_id: str, row: ChunkRow) -> Attributes:
    """Return a chunk's item. Its vector is packed in half precision, which ranks as well in a quarter of the room."""
    fields = to_item(replace(row, vector=()))
    packed: Attributes = {_VECTOR: {"B": pack(row.vector)}} if row.vector else {}
    kept = {name: content for name, content in fields.items() if name != _VECTOR}
    return kept | keys.chunk_row(scope, document_id, row.id) | packed


def read_chunk(item: Item) -> ChunkRow:
    """Return the chunk that an item holds."""
    row = from_item(ChunkRow, {name: content for name, content in item.items() if name != _VECTOR})
    return replace(row, vector=unpack(item[_VECTOR]["B"])) if _VECTOR in item else row


def places_item(places: Mapping[str, Place]) -> Attributes:
    """Return what a row says of where chunks stand."""
    return {_PLACES: attribute({chunk: [place.ordinal, place.start, place.end] for chunk, place in places.items()})}


def read_places(item: Item) -> Mapping[str, Place]:
    """Return where the chunks of a row stand, by their ids."""
    rows: Mapping[str, list[int]] = plain(item[_PLACES])
    return {
        chunk: Place(ordinal=int(ordinal), start=int(start), end=int(end))
        for chunk, (ordinal, start, end) in rows.items()
    }


def pack(vector: Vector) -> bytes:
    """Return a vector in half precision (IEEE 754 binary16), the lowest byte first."""
    return struct.pack(f"<{len(vector)}e", *vector)


def unpack(packed: object) -> Vector:
    """Return the vector of its packed form."""
    content = bytes(cast("bytes", packed))
    return struct.unpack(f"<{len(content) // _HALF_BYTES}e", content)
