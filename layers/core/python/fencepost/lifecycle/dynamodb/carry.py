"""Store of summaries that are approved in one conversation and carried into another."""

from __future__ import annotations

from typing import override

from fencepost.conversations.domain.messages import Conversation
from fencepost.conversations.rows.messages import conversation_item
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.rows import to_item
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Refused, Table
from fencepost.lifecycle.ports import CarryStore
from fencepost.memory.domain.summaries import Summary
from fencepost.memory.rows import SummaryRow, summary_row
from fencepost.turns.rows import require_membership

_MEMBER = "member:"


class DynamoDbCarryStore(CarryStore):
    """Approves summaries, and stores new conversations with the summaries that they begin with.

    Args:
        table: name of the conversations' table.
        directory: name of the directory's table.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, directory: str, client: ClientFactory = dynamodb_client) -> None:
        self._table = Table(table, client)
        self._directory_table = Table(directory, client)

    @override
    def approve(self, scope: Scope, conversation_id: str, summary_id: str) -> bool:
        """Mark the summary. A job that extends a summary stores it under another id."""
        answer = self._table.update(
            summary_row(scope, conversation_id), SummaryRow.approved.set(True), condition=SummaryRow.id == summary_id
        )
        return not isinstance(answer, Refused)

    @override
    def begin(self, scope: Scope, conversation: Conversation, summary: Summary) -> bool:
        writes = {
            "conversation": self._table.put_write(conversation_item(scope, conversation)),
            "summary": self._table.put_write(to_item(summary) | summary_row(scope, conversation.id)),
        }
        if scope.actor.startswith(_MEMBER):
            writes["membership"] = require_membership(self._directory_table, scope, scope.actor.removeprefix(_MEMBER))
        return self._table.transact_with_retry(writes) is None
