"""One owner's rows and objects of every kind, planted on the emulated cloud as the stores write them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import batched
from typing import TYPE_CHECKING
from uuid import uuid4

from mypy_boto3_s3 import S3Client

from fencepost.blobs import domain as objects
from fencepost.blobs.s3 import S3BlobStore
from fencepost.conversations.domain.attachments import PLAIN, Attachment, AttachmentState
from fencepost.conversations.domain.messages import Conversation, Message, MessagePointer, MessageStatus
from fencepost.conversations.rows import messages as conversations_keys
from fencepost.conversations.rows.messages import AnswerEntry, pointer_item
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.identity.domain.sites import Fact, FactState
from fencepost.identity.rows import ConversationsTableRow
from fencepost.kernel.aws.rows import Key, to_item
from fencepost.lifecycle.dynamodb.eraser import DynamoDbEraser
from fencepost.memory import rows as memory_keys
from fencepost.memory.domain.summaries import Summary, SummaryLine
from fencepost.model.domain import Role
from fencepost.queue import rows as queue_rows
from fencepost.queue.domain import Job, JobRecord, JobState, Purpose
from local.emulator import Emulator
from tests.integration.conversation_tables import ConversationTables, open_conversation_tables

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, WriteRequestTypeDef

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class ErasureWorld:
    """Both tables, the bucket, and an eraser of them."""

    tables: ConversationTables
    s3: S3Client
    bucket: str

    @property
    def blobs(self) -> S3BlobStore:
        return S3BlobStore(self.bucket, lambda: self.s3)

    @property
    def eraser(self) -> DynamoDbEraser:
        return DynamoDbEraser(self.tables.conversations, self.blobs, lambda: self.tables.client)

    def put(self, item: DataclassInstance, key: Key) -> None:
        """Store a dataclass as a row."""
        self.tables.client.put_item(TableName=self.tables.conversations, Item=to_item(item) | key)

    def plant(self, scope: Scope, conversation_id: str, turns: int = 3) -> Conversation:
        """Store a conversation with a summary, a block, a big content, an export, and a fact drawn from it."""
        conversation = self.begin(scope, conversation_id, turns)
        partition = keys.conversation(scope, conversation_id)
        self.put(summary_of(conversation_id), ConversationsTableRow.key(partition, memory_keys.SUMMARY))
        self.put(_pointer(conversation_id, 1), ConversationsTableRow.key(partition, conversations_keys.block_sort(1)))
        self.put(
            _fact(f"fact-{conversation_id}", f"{conversation_id}-q1.1"), _fact_key(scope, f"fact-{conversation_id}")
        )
        self.blobs.put(scope, objects.big_content(conversation_id, 2, b"big"), b"big", PLAIN)
        self.blobs.put(scope, objects.block(conversation_id, 1, b"block"), b"block", PLAIN)
        self.export(scope, f"export-{conversation_id}", conversation_id)
        return conversation

    def begin(self, scope: Scope, conversation_id: str, turns: int = 3) -> Conversation:
        """Store a conversation, its messages and what points to them."""
        row = _conversation(conversation_id, turns)
        items = [to_item(row) | keys.conversation_row(scope, conversation_id)]
        for turn in range(turns):
            for message in (exchange := _exchange(conversation_id, turn)):
                items.append(to_item(message) | conversations_keys.message_row(scope, conversation_id, message.seq))
            question, _ = exchange
            pointer = _pointer(conversation_id, question.seq)
            items.append(pointer_item(scope, pointer, {1: AnswerEntry(seq=question.seq + 1)}))
        self._put(items)
        return row

    def _put(self, items: list[dict[str, AttributeValueTypeDef]]) -> None:
        for some in batched(items, 25, strict=False):
            puts: list[WriteRequestTypeDef] = [{"PutRequest": {"Item": item}} for item in some]
            self.tables.client.batch_write_item(RequestItems={self.tables.conversations: puts})

    def export(self, scope: Scope, job_id: str, conversation_id: str | None) -> JobRecord:
        """Store a finished export and its bundle."""
        record = job_record(scope, job_id, Purpose.EXPORT, conversation_id)
        self.put(record, queue_rows.job_row(scope, job_id))
        self.blobs.put(scope, objects.export_bundle(job_id), b"zip", "application/zip")
        return record

    def attach(self, scope: Scope, file_id: str, *used_by: str) -> None:
        """Store a file that was attached in these conversations."""
        state = AttachmentState.READY
        attachment = Attachment(id=file_id, name="a.txt", content_type=PLAIN, size=4, state=state, created_at=NOON)
        users: dict[str, AttributeValueTypeDef] = {"used_by": {"SS": used_by}} if used_by else {}
        self.put(attachment, conversations_keys.file_row(scope, file_id) | users)
        self.blobs.put(scope, objects.attachment(file_id), b"text", PLAIN)
        self.blobs.put(scope, objects.attachment_text(file_id), b"text", PLAIN)

    def remember(self, scope: Scope, fact_id: str, *provenance: str) -> None:
        """Store a pinned fact."""
        self.put(_fact(fact_id, *provenance), _fact_key(scope, fact_id))

    def everything(self) -> tuple[set[tuple[str, str]], set[str]]:
        """Return the keys of all rows of the table and of all objects of the bucket: the tests' own verifier."""
        pages = self.tables.client.get_paginator("scan").paginate(TableName=self.tables.conversations)
        rows = {(item["pk"]["S"], item["sk"]["S"]) for page in pages for item in page["Items"]}
        stored = self.s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket)
        return rows, {entry["Key"] for page in stored for entry in page.get("Contents", ())}

    def naming(self, *words: str) -> list[str]:
        """Return all keys in which one of the words stands, but for tombstones."""
        rows, stored = self.everything()
        named = [f"{pk} {sk}" for pk, sk in rows if not sk.startswith("gone#")] + sorted(stored)
        return [key for key in named if any(word in key for word in words)]


def open_erasure_world(emulator: Emulator) -> ErasureWorld:
    """Make tables and bucket, empty."""
    s3: S3Client = emulator.client("s3")
    bucket = f"bucket-{uuid4()}"
    s3.create_bucket(Bucket=bucket)
    return ErasureWorld(open_conversation_tables(emulator.endpoint_url), s3, bucket)


def job_record(scope: Scope, job_id: str, purpose: Purpose, conversation_id: str | None = None) -> JobRecord:
    """Return the record of a finished job."""
    job = Job(
        org=scope.org,
        owner=scope.owner,
        actor=scope.actor,
        purpose=purpose,
        permission_version=0,
        created_at=NOON,
        conversation=conversation_id,
        record=job_id,
    )
    done = JobState.DONE
    return JobRecord(id=job_id, job=job, state=done, created_at=NOON, updated_at=NOON, parameters={}, progress={})


def _conversation(conversation_id: str, turns: int) -> Conversation:
    return Conversation(
        id=conversation_id,
        site="docs",
        incarnation=f"incarnation-{conversation_id}",
        title="",
        created_at=NOON,
        updated_at=NOON,
        next_seq=2 * turns + 1,
    )


def _exchange(conversation_id: str, turn: int) -> tuple[Message, Message]:
    question = Message(
        id=f"{conversation_id}-q{turn + 1}",
        seq=2 * turn + 1,
        role=Role.USER,
        content="Why?",
        created_at=NOON,
        status=MessageStatus.ANSWERED,
    )
    answer = replace(
        question, id=f"{question.id}.1", seq=question.seq + 1, role=Role.ASSISTANT, status=MessageStatus.COMPLETE
    )
    return question, answer


def _pointer(conversation_id: str, seq: int) -> MessagePointer:
    return MessagePointer(f"{conversation_id}-q{seq // 2 + 1}", conversation_id, seq, "0" * 64)


def summary_of(conversation_id: str) -> Summary:
    """Return a conversation's summary."""
    return Summary(
        id=f"summary-{conversation_id}",
        lines=(SummaryLine("They asked why.", (f"{conversation_id}-q1",)),),
        first_seq=1,
        last_seq=2,
        content_hash="0" * 64,
        prompt_version="1",
        model="m",
        created_at=NOON,
    )


def _fact(fact_id: str, *provenance: str) -> Fact:
    pinned = FactState.PINNED
    return Fact(id=fact_id, text="F", state=pinned, pinned_by="owner", created_at=NOON, provenance=provenance)


def _fact_key(scope: Scope, fact_id: str) -> Key:
    return memory_keys.fact_row(scope, FactState.PINNED, fact_id)
