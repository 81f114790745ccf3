"""Conversations that an import writes.

A mark in the owner's partition comes first: it says whose work it is, and leads an erasure to all that was written.
Rows are stored on condition that the mark is there. The conversation's own row takes its place at the end: until then
nobody reads anything of it, and once an erasure has taken the mark nothing can be added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import batched
from typing import TYPE_CHECKING, override

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.conversations.rows import messages as conversations_keys
from fencepost.conversations.rows.messages import AnswerEntry, MessageRows, conversation_item, expiring, pointer_item
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws import keys as aws_keys
from fencepost.kernel.aws.legacy.client import ClientFactory, Item, dynamodb_client, store_errors
from fencepost.kernel.aws.legacy.reading import query_pages
from fencepost.kernel.aws.legacy.rows import timestamp
from fencepost.kernel.aws.legacy.transactions import transact_with_retry
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.lifecycle.domain.bundle_check import AskedQuestion
from fencepost.lifecycle.dynamodb.removal import TOMBSTONES_KEPT, Removal
from fencepost.lifecycle.ports import ImportStore
from fencepost.queue.domain import Job

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, KeysAndAttributesTypeDef, TransactWriteItemTypeDef

_READ_AT_ONCE = 100  # DynamoDB's own limit of `BatchGetItem`.
_POINTER = "message_id, conversation_id"


class DynamoDbImports(ImportStore):
    """Implements `fencepost.lifecycle.ports.ImportStore`.

    Args:
        table: name of the conversations' table.
        blobs: where big contents go.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, blobs: BlobStore, client: ClientFactory = dynamodb_client) -> None:
        self._table = table
        self._blobs = blobs
        self._rows = MessageRows(blobs)
        self._client = client
        self._removal = Removal(table, client)

    @override
    def taken(self, scope: Scope, message_ids: Sequence[str]) -> dict[str, str]:
        wanted = (conversations_keys.pointer_row(scope, message_id) for message_id in message_ids)
        rows = (row for some in batched(wanted, _READ_AT_ONCE, strict=False) for row in self._get(list(some)))
        return {row["message_id"]["S"]: row["conversation_id"]["S"] for row in rows}

    @override
    def begin(self, scope: Scope, conversation_id: str, job: Job, incarnation: str) -> str | None:
        mark = self._mark(scope, conversation_id, job, incarnation)
        met = self._transact(mark | self._allowed(scope, conversation_id, job))
        if not met:
            return incarnation
        self._require_swept(met.get("gone", {}))
        if met.keys() != {"mark"}:
            return None
        if met["mark"]["job"]["S"] == job.record:
            return met["mark"]["incarnation"]["S"]
        return self._take_over(scope, conversation_id, job, incarnation, met["mark"])

    @override
    def write_messages(
        self, scope: Scope, conversation_id: str, incarnation: str, messages: Sequence[Message], *, keep_days: int = 0
    ) -> bool:
        items = [self._rows.item(scope, conversation_id, message, keep_days) for message in messages]
        puts: dict[str, TransactWriteItemTypeDef] = {
            item["sk"]["S"]: {"Put": {"TableName": self._table, "Item": item}} for item in items
        }
        written = not self._transact(self._marked(scope, conversation_id, incarnation) | puts)
        if not written:
            # An erasure took the mark, and may have looked for objects before these were stored.
            for message in messages:
                self._blobs.delete(scope, objects.big_contents(conversation_id, message.seq))
        return written

    @override
    def write_questions(
        self,
        scope: Scope,
        conversation_id: str,
        incarnation: str,
        questions: Sequence[AskedQuestion],
        *,
        keep_days: int = 0,
    ) -> bool:
        puts = {question.pointer.message_id: self._pointing(scope, question, keep_days) for question in questions}
        return not self._transact(self._marked(scope, conversation_id, incarnation) | puts)

    @override
    def finish(self, scope: Scope, conversation: Conversation) -> bool:
        ended: TransactWriteItemTypeDef = {
            "Delete": {
                "TableName": self._table,
                "Key": conversations_keys.import_row(scope, conversation.id),
                "ConditionExpression": "incarnation = :incarnation",
                "ExpressionAttributeValues": {":incarnation": {"S": conversation.incarnation}},
            }
        }
        shown: TransactWriteItemTypeDef = {
            "Put": {
                "TableName": self._table,
                "Item": conversation_item(scope, conversation),
                "ConditionExpression": "attribute_not_exists(pk)",
            }
        }
        return not self._transact({"mark": ended, "conversation": shown})

    def _mark(
        self, scope: Scope, conversation_id: str, job: Job, incarnation: str
    ) -> dict[str, TransactWriteItemTypeDef]:
        mark: dict[str, AttributeValueTypeDef] = {"job": {"S": job.record or ""}, "incarnation": {"S": incarnation}}
        return {
            "mark": {
                "Put": {
                    "TableName": self._table,
                    "Item": mark | conversations_keys.import_row(scope, conversation_id),
                    "ConditionExpression": "attribute_not_exists(pk)",
                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                }
            }
        }

    def _allowed(self, scope: Scope, conversation_id: str, job: Job) -> dict[str, TransactWriteItemTypeDef]:
        """Require that nothing is there, and that nothing was erased after the job was made.

        The tombstone goes: what is made from here on is another conversation, which no sweep may take for the old one.
        """
        made_at, erased = job.created_at, "attribute_not_exists(pk) OR erased_at < :made"
        last = str(int((made_at + TOMBSTONES_KEPT).timestamp()))
        return {
            "conversation": self._check(keys.conversation_row(scope, conversation_id), "attribute_not_exists(pk)", {}),
            "erased": self._check(conversations_keys.erased_row(scope), erased, {":made": {"S": timestamp(made_at)}}),
            "gone": {
                "Delete": {
                    "TableName": self._table,
                    "Key": conversations_keys.gone_row(scope, conversation_id),
                    "ConditionExpression": "attribute_not_exists(pk) OR "
                    "(attribute_not_exists(sweeping) AND expires_at <= :last)",
                    "ExpressionAttributeValues": {":last": {"N": last}},
                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                }
            },
        }

    def _take_over(self, scope: Scope, conversation_id: str, job: Job, incarnation: str, mark: Item) -> str | None:
        """Go on in another import's place: its mark first, so that it cannot write any more, then what it wrote."""
        taken = self._mark(scope, conversation_id, job, incarnation)
        taken["mark"]["Put"]["ConditionExpression"] = "incarnation = :theirs"
        taken["mark"]["Put"]["ExpressionAttributeValues"] = {":theirs": mark["incarnation"]}
        if self._transact(taken):
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
        self._removal.remove(list(self._written(scope, conversation_id)))
        return incarnation

    def _written(self, scope: Scope, conversation_id: str) -> Iterator[aws_keys.Key]:
        pages = query_pages(
            self._client(),
            {
                "TableName": self._table,
                "KeyConditionExpression": "pk = :pk",
                "ExpressionAttributeValues": {":pk": {"S": keys.conversation(scope, conversation_id)}},
                "ProjectionExpression": "pk, sk",
            },
        )
        return ({"pk": row["pk"], "sk": row["sk"]} for page in pages for row in page["Items"])

    def _require_swept(self, stone: Item) -> None:
        """Wait until a sweep is through: it would take the new rows for those of the conversation before."""
        if "sweeping" in stone:
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)

    def _marked(self, scope: Scope, conversation_id: str, incarnation: str) -> dict[str, TransactWriteItemTypeDef]:
        values: dict[str, AttributeValueTypeDef] = {":incarnation": {"S": incarnation}}
        return {
            "mark": self._check(
                conversations_keys.import_row(scope, conversation_id), "incarnation = :incarnation", values
            )
        }

    def _pointing(self, scope: Scope, question: AskedQuestion, keep_days: int) -> TransactWriteItemTypeDef:
        answers = {
            revision: AnswerEntry(seq=seq, context=question.contexts.get(revision))
            for revision, seq in question.answers.items()
        }
        return {
            "Put": {
                "TableName": self._table,
                "Item": pointer_item(scope, question.pointer, answers) | expiring(keep_days, question.last_at),
                "ConditionExpression": "attribute_not_exists(pk) OR conversation_id = :conversation",
                "ExpressionAttributeValues": {":conversation": {"S": question.pointer.conversation_id}},
            }
        }

    def _check(
        self, row: aws_keys.Key, condition: str, values: dict[str, AttributeValueTypeDef]
    ) -> TransactWriteItemTypeDef:
        check: TransactWriteItemTypeDef = {
            "ConditionCheck": {"TableName": self._table, "Key": row, "ConditionExpression": condition}
        }
        if values:
            check["ConditionCheck"]["ExpressionAttributeValues"] = values
        return check

    def _transact(self, actions: Mapping[str, TransactWriteItemTypeDef]) -> Mapping[str, Item]:
        """Write all or nothing, and return what stood in the way."""
        cancelled = transact_with_retry(self._client(), actions)
        return cancelled.met if cancelled else {}

    def _get(self, rows: list[aws_keys.Key]) -> list[Item]:
        wanted: KeysAndAttributesTypeDef = {"Keys": rows, "ConsistentRead": True, "ProjectionExpression": _POINTER}
        try:
            answer = self._client().batch_get_item(RequestItems={self._table: wanted})
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
        if answer.get("UnprocessedKeys"):
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
        return list(answer["Responses"][self._table])
