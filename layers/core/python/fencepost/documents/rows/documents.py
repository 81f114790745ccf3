"""Documents and chunks as items of the corpus' table, and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fencepost.conversations.rows.message_rows import expiring
from fencepost.documents.domain.documents import ChunkRow, Document, DocumentState
from fencepost.documents.domain.ingestion import UPLOAD_DAYS, due_at
from fencepost.documents.ports import ChunkVersionPlace
from fencepost.documents.rows import keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.legacy.client import Item
from fencepost.kernel.aws.legacy.rows import attribute, from_item, plain, timestamp, to_item
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


def chunk_item(scope: Scope, document_id: str, row: ChunkRow) -> ItemAttributes:
    """Return a chunk's item. Its vector is packed in half precision, which ranks as well in a quarter of the room."""
    fields = to_item(replace(row, vector=()))
    packed: ItemAttributes = {_VECTOR: {"B": pack(row.vector)}} if row.vector else {}
    kept = {name: content for name, content in fields.items() if name != _VECTOR}
    return kept | keys.chunk_row(scope, document_id, row.id) | packed


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
