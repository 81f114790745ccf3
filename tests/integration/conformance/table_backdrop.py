"""The backdrop of the DynamoDB adapters: the rows of both tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from fencepost.conversations.domain.attachments import PLAIN, Attachment, AttachmentState
from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message, MessagePointer
from fencepost.conversations.dynamodb.attachments import DynamoDbAttachments
from fencepost.conversations.rows import messages as conversations_keys
from fencepost.conversations.rows.messages import NEXT_SEQ, AnswerEntry, conversation_item, pointer_item
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Membership, Scope
from fencepost.identity.domain.sites import Fact
from fencepost.kernel.aws.rows import timestamp, to_item
from fencepost.memory import rows as memory_keys
from fencepost.memory.domain.summaries import Summary
from tests.conformance.backdrop import Backdrop
from tests.conformance.samples import NOW
from tests.integration.conversation_tables import ConversationTables
from tests.integration.kept_conversations import Kept


@dataclass(frozen=True)
class TableBackdrop(Backdrop):
    """Implements `Backdrop`."""

    tables: ConversationTables

    def put_conversation(self, scope: Scope, row: Conversation) -> None:
        self._put(conversation_item(scope, row))

    def remove_conversation(self, scope: Scope, conversation_id: str) -> None:
        key = keys.conversation_row(scope, conversation_id)
        self.tables.client.delete_item(TableName=self.tables.conversations, Key=key)

    def conversation(self, scope: Scope, conversation_id: str) -> Conversation | None:
        return self.tables.conversation(scope, conversation_id)

    def messages(self, scope: Scope, conversation_id: str) -> list[Message]:
        return self.tables.messages(scope, conversation_id)

    def put_messages(self, scope: Scope, conversation_id: str, *messages: Message) -> None:
        Kept(self.tables).say(scope, conversation_id, *messages)

    def put_pointer(
        self, scope: Scope, pointer: MessagePointer, answers: Mapping[int, tuple[int, AnswerContext | None]]
    ) -> None:
        entries = {revision: AnswerEntry(seq=seq, context=context) for revision, (seq, context) in answers.items()}
        self._put(pointer_item(scope, pointer, entries))

    def wait(self, scope: Scope, row: Conversation, seq: int) -> None:
        Kept(self.tables).wait(row.id, row, seq if seq < row.next_seq else NEXT_SEQ, scope)

    def grant(self, org: str, user: str, *, active: bool = True, version: int = 1) -> Membership:
        return self.tables.grant(org, user, active=active, version=version)

    def remove_membership(self, org: str, user: str) -> None:
        self.tables.client.delete_item(TableName=self.tables.directory, Key=keys.membership_row(org, user))

    def erase_owner(self, scope: Scope, at: datetime) -> None:
        self._put(conversations_keys.erased_row(scope) | {"erased_at": {"S": timestamp(at)}})

    def put_summary(self, scope: Scope, conversation_id: str, summary: Summary) -> None:
        self._put(to_item(summary) | memory_keys.summary_row(scope, conversation_id))

    def put_facts(self, scope: Scope, *facts: Fact) -> None:
        for fact in facts:
            self._put(to_item(fact) | memory_keys.fact_row(scope, fact.state, fact.id))

    def put_file(self, scope: Scope, file_id: str, *used_by: str) -> None:
        ready = AttachmentState.READY
        file = Attachment(id=file_id, name="a.txt", content_type=PLAIN, size=4, state=ready, created_at=NOW)
        DynamoDbAttachments(self.tables.conversations, lambda: self.tables.client).put(scope, file)
        if used_by:
            self.tables.client.update_item(
                TableName=self.tables.conversations,
                Key=conversations_keys.file_row(scope, file_id),
                UpdateExpression="ADD used_by :users",
                ExpressionAttributeValues={":users": {"SS": used_by}},
            )

    def file_users(self, scope: Scope, file_id: str) -> set[str] | None:
        key = conversations_keys.file_row(scope, file_id)
        answer = self.tables.client.get_item(TableName=self.tables.conversations, Key=key, ConsistentRead=True)
        return set(answer["Item"].get("used_by", {"SS": []})["SS"]) if "Item" in answer else None

    def _put(self, item: object) -> None:
        self.tables.client.put_item(TableName=self.tables.conversations, Item=item)  # type: ignore[arg-type]  # any row
