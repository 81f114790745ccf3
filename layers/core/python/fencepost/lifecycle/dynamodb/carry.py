"""Summaries that are approved in one conversation, and begin another."""

from __future__ import annotations

from typing import TYPE_CHECKING, override

from fencepost.conversations.domain.messages import Conversation
from fencepost.conversations.rows.messages import conversation_item
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws import keys as aws_keys
from fencepost.kernel.aws.legacy.client import ClientFactory, Refused, dynamodb_client, update
from fencepost.kernel.aws.legacy.rows import to_item
from fencepost.kernel.aws.legacy.transactions import transact_with_retry
from fencepost.kernel.errors import ErrorCode
from fencepost.lifecycle.ports import CarryStore
from fencepost.memory import rows as memory_keys
from fencepost.memory.domain.summaries import Summary
from fencepost.turns.rows import membership_check

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_MEMBER = "member:"


class DynamoDbCarryStore(CarryStore):
    """Implements `fencepost.lifecycle.ports.CarryStore`.

    Args:
        table: name of the conversations' table.
        directory: name of the directory's table.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, directory: str, client: ClientFactory = dynamodb_client) -> None:
        self._table = table
        self._directory = directory
        self._client = client

    @override
    def approve(self, scope: Scope, conversation_id: str, summary_id: str) -> bool:
        """A job that extends it meanwhile makes another one, of another id."""
        answer = update(
            self._client(),
            {
                "TableName": self._table,
                "Key": aws_keys.key(keys.conversation(scope, conversation_id), memory_keys.SUMMARY),
                "UpdateExpression": "SET approved = :true",
                "ConditionExpression": "id = :id",
                "ExpressionAttributeValues": {":true": {"BOOL": True}, ":id": {"S": summary_id}},
            },
            ErrorCode.CONVERSATIONS_UNAVAILABLE,
        )
        return not isinstance(answer, Refused)

    @override
    def begin(self, scope: Scope, conversation: Conversation, summary: Summary) -> bool:
        partition = aws_keys.key(keys.conversation(scope, conversation.id), memory_keys.SUMMARY)
        writes: dict[str, TransactWriteItemTypeDef] = {
            "conversation": {"Put": {"TableName": self._table, "Item": conversation_item(scope, conversation)}},
            "summary": {"Put": {"TableName": self._table, "Item": to_item(summary) | partition}},
        }
        if scope.actor.startswith(_MEMBER):
            user = scope.actor.removeprefix(_MEMBER)
            writes["membership"] = membership_check(self._directory, scope, user)
        return transact_with_retry(self._client(), writes) is None
