"""Documents and their chunks in DynamoDB. `fencepost.documents.rows` describes the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import override

from fencepost.documents import rows as keys
from fencepost.documents.domain.documents import ChunkRow, Document, DocumentState
from fencepost.documents.ports import ChunkVersionPlace, DocumentStore, DueDocumentStore
from fencepost.documents.rows import (
    AGENDA,
    BY_CREATION,
    CHUNKS,
    DOCUMENTS,
    DUE,
    HEX_DIGITS,
    DocumentChunkRow,
    DocumentLeaseRow,
    DocumentRow,
    chunk_item,
    digest,
    document_item,
    places_item,
    read_chunk,
    read_document,
    read_places,
)
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.expressions import all_of, any_of
from fencepost.kernel.aws.rows import Item, Key, attribute
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Refused, Table
from fencepost.kernel.paging import Page
from fencepost.queue.domain import WorkLease


class DynamoDbDocuments(DocumentStore):
    """Stores documents and chunks in the table of documents.

    Args:
        table: its name.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client) -> None:
        self._table = Table(table, client)

    @override
    def create(self, scope: Scope, document: Document) -> bool:
        """Creating the same document twice succeeds: the first answer may have been lost."""
        refused = self._table.put(document_item(scope, document), condition=DocumentRow.pk.does_not_exist())
        return _is_written(document, refused)

    @override
    def get(self, scope: Scope, document_id: str) -> Document | None:
        item = self._table.get(keys.document_row(scope, document_id))
        return read_document(item) if item else None

    @override
    def page(self, scope: Scope, *, after: str | None, limit: int) -> Page[Document]:
        start: Key | None = None
        if after is not None:
            created_at, _, last_id = after.partition("|")
            start = keys.document_row(scope, last_id) | {"created_at": attribute(created_at)}
        found = self._table.query(
            DocumentRow.pk == keys.documents_partition(scope),
            filtered=DocumentRow.state != DocumentState.REMOVED,
            limit=limit + 1,
            start=start,
            descending=True,
            index=BY_CREATION,
        )
        items = list(found)
        documents = tuple(map(read_document, items[:limit]))
        if len(items) <= limit or not documents:
            return Page(documents)
        last = items[limit - 1]
        return Page(documents, f"{last['created_at']['S']}|{last['id']['S']}")

    @override
    def change(self, scope: Scope, before: Document, after: Document) -> bool:
        refused = self._table.put(document_item(scope, after), condition=DocumentRow.digest == digest(before))
        return _is_written(after, refused)

    @override
    def remove(self, scope: Scope, document_id: str) -> None:
        self._table.batch_write(deletes=[keys.document_row(scope, document_id), keys.work_row(scope, document_id)])

    @override
    def begin(self, scope: Scope, document_id: str, lease: WorkLease) -> bool:
        answer = self._table.update(
            keys.work_row(scope, document_id),
            DocumentLeaseRow.holder.set(lease.holder),
            DocumentLeaseRow.until.set(lease.until),
            DocumentLeaseRow.expires_at.set(lease.until + timedelta(seconds=1)),
            condition=any_of(
                DocumentLeaseRow.holder.does_not_exist(),
                DocumentLeaseRow.holder == lease.holder,
                DocumentLeaseRow.until <= lease.now,
            ),
        )
        return not isinstance(answer, Refused)

    @override
    def end(self, scope: Scope, document_id: str, lease: WorkLease) -> None:
        self._table.delete(keys.work_row(scope, document_id), condition=DocumentLeaseRow.holder == lease.holder)

    @override
    def chunks(self, scope: Scope, document_id: str, *, after: str | None, limit: int) -> Page[ChunkRow]:
        page = self._table.query_page(
            all_of(
                DocumentChunkRow.pk == keys.chunks_partition(scope, document_id), DocumentChunkRow.sk.startswith(CHUNKS)
            ),
            limit=limit,
            start=None if after is None else keys.chunk_row(scope, document_id, after),
        )
        rows = tuple(map(read_chunk, page.items))
        return Page(rows, rows[-1].id if rows and page.next_key else None)

    @override
    def put_chunks(self, scope: Scope, document_id: str, rows: Sequence[ChunkRow]) -> None:
        self._table.batch_write(puts=(chunk_item(scope, document_id, row) for row in rows))

    @override
    def drop_chunks(self, scope: Scope, document_id: str, chunk_ids: Sequence[str]) -> None:
        self._table.batch_write(deletes=(keys.chunk_row(scope, document_id, chunk_id) for chunk_id in chunk_ids))

    @override
    def put_places(self, scope: Scope, document_id: str, version: int, places: Mapping[str, ChunkVersionPlace]) -> None:
        """Chunks are spread over sixteen rows by the first digit of their ids."""
        self._table.batch_write(
            puts=(
                keys.places_row(scope, document_id, version, digit)
                | places_item({chunk: place for chunk, place in places.items() if chunk.startswith(digit)})
                for digit in HEX_DIGITS
            )
        )

    @override
    def drop_places(self, scope: Scope, document_id: str, version: int) -> None:
        self._table.batch_write(deletes=(keys.places_row(scope, document_id, version, digit) for digit in HEX_DIGITS))

    @override
    def hydrate(
        self, scope: Scope, wanted: Sequence[tuple[str, str]]
    ) -> tuple[Mapping[str, Document], Mapping[tuple[str, str], ChunkRow]]:
        pairs = dict.fromkeys(wanted)
        documents = [keys.document_row(scope, one) for one in dict.fromkeys(document for document, _ in pairs)]
        chunks = [keys.chunk_row(scope, document, chunk) for document, chunk in pairs]
        items = self._table.batch_get([*documents, *chunks])
        rows = [read_chunk(item) for item in items if item["sk"]["S"].startswith(CHUNKS)]
        found = [read_document(item) for item in items if item["sk"]["S"].startswith(DOCUMENTS)]
        return {document.id: document for document in found}, {(row.document, row.id): row for row in rows}

    @override
    def places(
        self, scope: Scope, wanted: Sequence[tuple[str, int, str]]
    ) -> Mapping[tuple[str, str], ChunkVersionPlace]:
        rows = {one: keys.places_row(scope, *one) for one in wanted}
        items = self._table.batch_get({_identity(row): row for row in rows.values()}.values())
        found = {_identity(item): read_places(item) for item in items}
        return {
            (document, chunk): place
            for (document, _, chunk), row in rows.items()
            if (place := found.get(_identity(row), {}).get(chunk)) is not None
        }


class DynamoDbDueDocuments(DueDocumentStore):
    """Reads the agenda index; its role may read no more of the table.

    The index may lag by seconds, so callers must read a document's row before they act on it.

    Args:
        table: name of the table of documents.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client) -> None:
        self._table = Table(table, client)

    @override
    def due(self, now: datetime, limit: int) -> tuple[tuple[str, str], ...]:
        page = self._table.query_page(
            all_of(DocumentRow.agenda == DUE, DocumentRow.due_at <= now), limit=limit, index=AGENDA, consistent=False
        )
        return tuple(keys.document_of(DocumentRow.key_of(item)) for item in page.items)


def _is_written(document: Document, refused: Refused | None) -> bool:
    """Tell whether a document's row is as it was to be written.

    The SDK repeats a request whose answer was lost, so the row that refuses the second may be that of the first.
    """
    return refused is None or refused.item.get("digest") == attribute(digest(document))


def _identity(row: Item) -> tuple[str, str]:
    return row["pk"]["S"], row["sk"]["S"]
