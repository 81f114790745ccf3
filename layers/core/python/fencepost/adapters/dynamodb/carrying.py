"""Summaries that are approved in one conversation, and begin another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost.adapters.dynamodb import keys
from fencepost.adapters.dynamodb.client import ClientFactory, Refused, dynamodb_client, update
from fencepost.adapters.dynamodb.conversation_rows import conversation_item
from fencepost.adapters.dynamodb.rows import to_item
from fencepost.adapters.dynamodb.transactions import transact_surely
from fencepost.adapters.dynamodb.turn_actions import membership_check
from fencepost.domain.errors import ErrorCode
from fencepost.domain.identity import Scope
from fencepost.domain.memory import Summary
from fencepost.domain.messages import Conversation

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_MEMBER = "member:"


class DynamoDbCarryStore:
    """Implements `fencepost.ports.CarryStore`.

    Args:
        table: name of the conversations' table.
        directory: name of the directory's table.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, directory: str, client: ClientFactory = dynamodb_client) -> None:
        self._table = table
        self._directory = directory
        self._client = client

    def approve(self, scope: Scope, conversation_id: str, summary_id: str) -> bool:
        """See `fencepost.ports.CarryStore`. A job that extends it meanwhile makes another one, of another id."""
        answer = update(
            self._client(),
            {
                "TableName": self._table,
                "Key": keys.key(keys.conversation(scope, conversation_id), keys.SUMMARY),
                "UpdateExpression": "SET approved = :true",
                "ConditionExpression": "id = :id",
                "ExpressionAttributeValues": {":true": {"BOOL": True}, ":id": {"S": summary_id}},
            },
            ErrorCode.CONVERSATIONS_UNAVAILABLE,
        )
        return not isinstance(answer, Refused)

    def begin(self, scope: Scope, conversation: Conversation, summary: Summary) -> bool:
        """See `fencepost.ports.CarryStore`."""
        partition = keys.key(keys.conversation(scope, conversation.id), keys.SUMMARY)
        writes: dict[str, TransactWriteItemTypeDef] = {
            "conversation": {"Put": {"TableName": self._table, "Item": conversation_item(scope, conversation)}},
            "summary": {"Put": {"TableName": self._table, "Item": to_item(summary) | partition}},
        }
        if scope.actor.startswith(_MEMBER):
            user = scope.actor.removeprefix(_MEMBER)
            writes["membership"] = membership_check(self._directory, scope, user)
        return transact_surely(self._client(), writes) is None
