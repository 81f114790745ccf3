"""The store of conversations on the emulated DynamoDB, and what stands in it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from fencepost.blobs.domain import block
from fencepost.conversations.domain.archives import BLOCK_MESSAGES, describe, pack
from fencepost.conversations.domain.messages import AnswerContext, Conversation, Message, MessagePointer, OpenTurn
from fencepost.conversations.dynamodb.conversations import DynamoDbConversations
from fencepost.conversations.rows.messages import AnswerEntry, MessageRows, conversation_item, pointer_item
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.rows import attribute, nested, timestamp
from fencepost.lifecycle.dynamodb.archive import DynamoDbArchive
from tests.conformance.samples import visitor_scope
from tests.fakes.answers import FixedClock
from tests.fakes.blobs import FakeBlobs
from tests.integration.conversation_tables import ConversationTables
from tests.worlds import api as api_world

SCOPE = visitor_scope()
NOW = datetime(2026, 3, 14, 12, 0, 30, 123456, tzinfo=UTC)
CLOCK = FixedClock(NOW)


class Kept:
    """The adapter with its table, and what stands in it."""

    def __init__(self, tables: ConversationTables) -> None:
        self.tables = tables
        self.blobs = FakeBlobs()
        self.store = DynamoDbConversations(tables.conversations, self.blobs, lambda: tables.client)

    def put(self, item: object) -> None:
        self.tables.client.put_item(TableName=self.tables.conversations, Item=item)  # type: ignore[arg-type]  # any row

    def converse(self, name: str, turns: int, scope: Scope = SCOPE, **changes: object) -> Conversation:
        """Store a conversation with so many turns."""
        row = replace(api_world.conversation(name, turns, CLOCK), **changes)  # type: ignore[arg-type]  # any fields
        self.put(conversation_item(scope, row))
        for number in range(1, turns + 1):
            question, answer = api_world.exchange(name, number, CLOCK)
            self.say(scope, name, question, answer)
            pointer = MessagePointer(question.id, name, question.seq, "f" * 64)
            self.put(pointer_item(scope, pointer, {1: AnswerEntry(seq=answer.seq, context=context_of(answer))}))
        return row

    def say(self, scope: Scope, name: str, *messages: Message) -> None:
        for message in messages:
            self.put(MessageRows(self.blobs).item(scope, name, message))

    def wait(self, name: str, row: Conversation, seq: int = 0, scope: Scope = SCOPE) -> None:
        """Let a question wait in the conversation's own row, as a claim does."""
        turn = OpenTurn(message_id="waiting", seq=seq, holder="h", until=NOW)
        extra = {
            "open_turn": nested(turn),
            "open_content": attribute("Still there?"),
            "open_attachments": attribute([]),
            "open_at": attribute(timestamp(NOW)),
        }
        self.put(conversation_item(scope, row) | extra)

    def archive(self, row: Conversation, blocks: int) -> Conversation:
        """Move so many blocks of a conversation's messages."""
        archive = DynamoDbArchive(self.tables.conversations, self.blobs, lambda: self.tables.client)
        for _ in range(blocks):
            messages = archive.rows(SCOPE, row.id, after=row.archived_through, limit=BLOCK_MESSAGES)
            content = pack(messages)
            name = block(row.id, messages[0].seq, content)
            self.blobs.put(SCOPE, name, content, "application/gzip")
            assert archive.move(SCOPE, row, describe(name, content, messages), messages)
            row = replace(row, archived_through=messages[-1].seq)
        return row

    def seqs(self, name: str, limit: int, *, newest_first: bool = False) -> list[int]:
        """Follow a conversation's messages to the end, page by page."""
        found, after = list[int](), None
        while True:
            page = self.store.messages(SCOPE, name, after=after, limit=limit, newest_first=newest_first)
            found += [message.seq for message in page.items]
            if page.next_key is None:
                return found
            assert len(page.items) == limit
            after = int(page.next_key)


def context_of(answer: Message) -> AnswerContext:
    return api_world.context(answer, CLOCK)


def listed(kept: Kept, limit: int, title: str = "", scope: Scope = SCOPE) -> list[list[str]]:
    pages, after = [], None
    while True:
        page = kept.store.newest(scope, after=after, limit=limit, title_contains=title)
        pages.append([row.id for row in page.items])
        if page.next_key is None:
            return pages
        after = page.next_key
