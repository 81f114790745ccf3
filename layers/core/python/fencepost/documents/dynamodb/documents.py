"""Documents, and where the rows of their chunks are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, cast, override

from fencepost.documents import rows as keys
from fencepost.documents.domain.documents import ChunkRow, Document, DocumentState
from fencepost.documents.ports import ChunkVersionPlace, DocumentStore, DueDocumentStore
from fencepost.documents.rows import (
    DIGEST,
    chunk_item,
    digest,
    document_item,
    places_item,
    read_chunk,
    read_document,
    read_places,
)
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.legacy.batches import delete_rows, put_rows, read_rows
from fencepost.kernel.aws.legacy.client import Item, OneTable, Refused, store_errors, update
from fencepost.kernel.aws.legacy.reading import EXPIRES_AT, get_row, query_pages
from fencepost.kernel.aws.legacy.rows import attribute, timestamp
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.paging import Page
from fencepost.queue.domain import WorkLease

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import PutItemInputTypeDef, QueryInputTypeDef


class DynamoDbDocuments(OneTable, DocumentStore):
    """Implements `fencepost.documents.ports.DocumentStore` in the corpus' table."""

    @override
    def create(self, scope: Scope, document: Document) -> bool:
        """Creating the same twice succeeds: the first answer may have been lost."""
        return self._put({**self._written(scope, document), "ConditionExpression": "attribute_not_exists(pk)"})

    @override
    def get(self, scope: Scope, document_id: str) -> Document | None:
        item = get_row(self._client(), self._table, keys.document_row(scope, document_id))
        return read_document(item) if item else None

    @override
    def page(self, scope: Scope, *, after: str | None, limit: int) -> Page[Document]:
        found, last = list[Document](), None
        for item in self._listed(scope, after, limit):
            if len(found) == limit:
                return Page(tuple(found), last)
            found.append(read_document(item))
            last = f"{item['created_at']['S']}|{item['id']['S']}"
        return Page(tuple(found))

    @override
    def change(self, scope: Scope, before: Document, after: Document) -> bool:
        return self._put(
            {
                **self._written(scope, after),
                "ConditionExpression": f"{DIGEST} = :before",
                "ExpressionAttributeValues": {":before": attribute(digest(before))},
            }
        )

    @override
    def remove(self, scope: Scope, document_id: str) -> None:
        rows = [keys.document_row(scope, document_id), keys.work_row(scope, document_id)]
        delete_rows(self._client(), self._table, rows)

    @override
    def begin(self, scope: Scope, document_id: str, lease: WorkLease) -> bool:
        answer = update(
            self._client(),
            {
                "TableName": self._table,
                "Key": keys.work_row(scope, document_id),
                "UpdateExpression": f"SET holder = :holder, #until = :until, {EXPIRES_AT} = :expires",
                "ConditionExpression": "attribute_not_exists(holder) OR holder = :holder OR #until <= :now",
                "ExpressionAttributeNames": {"#until": "until"},
                "ExpressionAttributeValues": {
                    ":holder": attribute(lease.holder),
                    ":until": attribute(timestamp(lease.until)),
                    ":expires": attribute(int(lease.until.timestamp()) + 1),
                    ":now": attribute(timestamp(lease.now)),
                },
            },
            ErrorCode.CONVERSATIONS_UNAVAILABLE,
        )
        return not isinstance(answer, Refused)

    @override
    def end(self, scope: Scope, document_id: str, lease: WorkLease) -> None:
        client = self._client()
        try:
            client.delete_item(
                TableName=self._table,
                Key=keys.work_row(scope, document_id),
                ConditionExpression="holder = :holder",
                ExpressionAttributeValues={":holder": attribute(lease.holder)},
            )
        except client.exceptions.ConditionalCheckFailedException:
            return
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None

    @override
    def chunks(self, scope: Scope, document_id: str, *, after: str | None, limit: int) -> Page[ChunkRow]:
        request: QueryInputTypeDef = {
            "TableName": self._table,
            "KeyConditionExpression": "pk = :pk AND begins_with(sk, :chunks)",
            "ExpressionAttributeValues": {
                ":pk": attribute(keys.document(scope, document_id)),
                ":chunks": attribute(keys.CHUNKS),
            },
            "Limit": limit,
        }
        if after is not None:
            request["ExclusiveStartKey"] = keys.chunk_row(scope, document_id, after)
        page = next(query_pages(self._client(), request))
        rows = tuple(map(read_chunk, page["Items"]))
        return Page(rows, rows[-1].id if rows and "LastEvaluatedKey" in page else None)

    @override
    def put_chunks(self, scope: Scope, document_id: str, rows: Sequence[ChunkRow]) -> None:
        put_rows(self._client(), self._table, (chunk_item(scope, document_id, row) for row in rows))

    @override
    def drop_chunks(self, scope: Scope, document_id: str, chunk_ids: Sequence[str]) -> None:
        delete_rows(self._client(), self._table, (keys.chunk_row(scope, document_id, one) for one in chunk_ids))

    @override
    def put_places(self, scope: Scope, document_id: str, version: int, places: Mapping[str, ChunkVersionPlace]) -> None:
        """Chunks are spread over sixteen rows by their ids' first digit."""
        rows = [
            keys.places_row(scope, document_id, version, digit)
            | places_item({chunk: place for chunk, place in places.items() if chunk.startswith(digit)})
            for digit in keys.HEX_DIGITS
        ]
        put_rows(self._client(), self._table, rows)

    @override
    def drop_places(self, scope: Scope, document_id: str, version: int) -> None:
        rows = (keys.places_row(scope, document_id, version, digit) for digit in keys.HEX_DIGITS)
        delete_rows(self._client(), self._table, rows)

    @override
    def hydrate(
        self, scope: Scope, wanted: Sequence[tuple[str, str]]
    ) -> tuple[Mapping[str, Document], Mapping[tuple[str, str], ChunkRow]]:
        pairs = dict.fromkeys(wanted)
        documents = [keys.document_row(scope, one) for one in dict.fromkeys(document for document, _ in pairs)]
        chunks = [keys.chunk_row(scope, document, chunk) for document, chunk in pairs]
        items = read_rows(self._client(), self._table, [*documents, *chunks])
        rows = [read_chunk(item) for item in items if item["sk"]["S"].startswith(keys.CHUNKS)]
        found = [read_document(item) for item in items if item["sk"]["S"].startswith(keys.DOCUMENTS)]
        return {document.id: document for document in found}, {(row.document, row.id): row for row in rows}

    @override
    def places(
        self, scope: Scope, wanted: Sequence[tuple[str, int, str]]
    ) -> Mapping[tuple[str, str], ChunkVersionPlace]:
        rows = {_identity(keys.places_row(scope, *one)): keys.places_row(scope, *one) for one in wanted}
        items = read_rows(self._client(), self._table, list(rows.values()))
        found = {_identity(item): read_places(item) for item in items}
        places = (
            (document, chunk, found.get(_identity(keys.places_row(scope, document, version, chunk)), {}).get(chunk))
            for document, version, chunk in wanted
        )
        return {(document, chunk): place for document, chunk, place in places if place is not None}

    def _written(self, scope: Scope, document: Document) -> PutItemInputTypeDef:
        return {
            "TableName": self._table,
            "Item": document_item(scope, document),
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

    def _put(self, request: PutItemInputTypeDef) -> bool:
        client = self._client()
        try:
            client.put_item(**request)
        except client.exceptions.ConditionalCheckFailedException as error:
            # The SDK repeats a request whose answer was lost: what stands there may be what was to be written.
            return cast("Item", error.response.get("Item", {})).get(DIGEST) == request["Item"][DIGEST]
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
        return True

    def _listed(self, scope: Scope, after: str | None, limit: int) -> Iterator[Item]:
        request: QueryInputTypeDef = {
            "TableName": self._table,
            "IndexName": keys.BY_CREATION,
            "KeyConditionExpression": "pk = :pk",
            "FilterExpression": "#state <> :removed",
            "ExpressionAttributeNames": {"#state": "state"},
            "ExpressionAttributeValues": {
                ":pk": attribute(keys.corpus(scope)),
                ":removed": attribute(DocumentState.REMOVED),
            },
            "ScanIndexForward": False,
            "Limit": limit + 1,
        }
        if after is not None:
            created_at, _, document_id = after.partition("|")
            row = keys.document_row(scope, document_id)
            request["ExclusiveStartKey"] = {**row, "created_at": attribute(created_at)}
        for page in query_pages(self._client(), request):
            yield from page["Items"]


class DynamoDbDueDocuments(OneTable, DueDocumentStore):
    """Implements `fencepost.documents.ports.DueDocumentStore` in the corpus' table, of which its role needs an index
    alone.

    What that tells may be seconds old; who acts on it reads the row.
    """

    @override
    def due(self, now: datetime, limit: int) -> tuple[tuple[str, str], ...]:
        request: QueryInputTypeDef = {
            "TableName": self._table,
            "IndexName": keys.AGENDA,
            # A global index is never consistent.
            "ConsistentRead": False,
            "KeyConditionExpression": f"{keys.AGENDA} = :due AND {keys.DUE_AT} <= :now",
            "ExpressionAttributeValues": {":due": attribute(keys.DUE), ":now": attribute(timestamp(now))},
            "Limit": limit,
        }
        page = next(query_pages(self._client(), request))
        return tuple(keys.document_of({"pk": item["pk"], "sk": item["sk"]}) for item in page["Items"])


def _identity(row: Item) -> tuple[str, str]:
    return row["pk"]["S"], row["sk"]["S"]
