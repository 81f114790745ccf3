"""Store of conversations that an import writes.

The import first stores a mark in the owner's partition. The mark names the import's job, and leads an erasure to all
rows that the import has written. Further rows are stored on condition that the mark is there. The conversation's own
row takes the mark's place at the end: until then no reader finds the conversation, and once an erasure has removed the
mark nothing can be added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import override

from pynamodb.expressions.condition import Condition

from fencepost.blobs import domain as objects
from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.messages import Conversation, Message
from fencepost.conversations.rows.messages import (
    AnswerEntry,
    MessageRows,
    conversation_item,
    erased_row,
    expiring,
    gone_row,
    import_row,
    pointer_item,
    pointer_row,
)
from fencepost.conversations.rows.models import ConversationRow, ErasedRow, ImportRow, PointerRow, TombstoneRow
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.expressions import all_of
from fencepost.kernel.aws.rows import Item
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Table
from fencepost.kernel.aws.transactions import Write
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.lifecycle.domain.bundle_check import AskedQuestion
from fencepost.lifecycle.dynamodb.removal import TOMBSTONES_KEPT, Removal
from fencepost.lifecycle.ports import ImportStore
from fencepost.lifecycle.rows import ScannedRow
from fencepost.queue.domain import Job


class DynamoDbImports(ImportStore):
    """Stores imported conversations.

    Args:
        table: name of the conversations' table.
        blobs: store of big contents.
        client: makes or returns the client, at the first use.
    """

    def __init__(self, table: str, blobs: BlobStore, client: ClientFactory = dynamodb_client) -> None:
        self._table = Table(table, client)
        self._blobs = blobs
        self._rows = MessageRows(blobs)
        self._removal = Removal(table, client)

    @override
    def taken(self, scope: Scope, message_ids: Sequence[str]) -> dict[str, str]:
        pointers = (pointer_row(scope, message_id) for message_id in message_ids)
        rows = self._table.batch_get(pointers, PointerRow.message_id, PointerRow.conversation_id)
        return {row["message_id"]["S"]: row["conversation_id"]["S"] for row in rows}

    @override
    def begin(self, scope: Scope, conversation_id: str, job: Job, incarnation: str) -> str | None:
        mark = self._mark_write(scope, conversation_id, job, incarnation, ImportRow.pk.does_not_exist())
        cancelled = self._table.transact_with_retry({"mark": mark, **self._allowed(scope, conversation_id, job)})
        if cancelled is None:
            return incarnation
        if "sweeping" in cancelled.met.get("gone", {}):
            # Wait until the erased conversation is swept: the sweep would take the new rows for the erased ones.
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
        if cancelled.met.keys() != {"mark"}:
            return None
        stored = cancelled.met["mark"]
        if stored["job"]["S"] == job.record:
            return stored["incarnation"]["S"]
        self._take_over(scope, conversation_id, job, incarnation, stored["incarnation"]["S"])
        return incarnation

    @override
    def write_messages(
        self, scope: Scope, conversation_id: str, incarnation: str, messages: Sequence[Message], *, keep_days: int = 0
    ) -> bool:
        items = [self._rows.item(scope, conversation_id, message, keep_days) for message in messages]
        puts = {item["sk"]["S"]: self._table.put_write(item) for item in items}
        written = self._write_marked(scope, conversation_id, incarnation, puts)
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
        puts = {question.pointer.message_id: self._pointer_write(scope, question, keep_days) for question in questions}
        return self._write_marked(scope, conversation_id, incarnation, puts)

    @override
    def finish(self, scope: Scope, conversation: Conversation) -> bool:
        mark = self._table.delete_write(
            import_row(scope, conversation.id), condition=ImportRow.incarnation == conversation.incarnation
        )
        row = self._table.put_write(
            conversation_item(scope, conversation), condition=ConversationRow.pk.does_not_exist()
        )
        return self._table.transact_with_retry({"mark": mark, "conversation": row}) is None

    def _mark_write(
        self, scope: Scope, conversation_id: str, job: Job, incarnation: str, condition: Condition
    ) -> Write:
        attributes: Item = {"job": {"S": job.record or ""}, "incarnation": {"S": incarnation}}
        return self._table.put_write({**import_row(scope, conversation_id), **attributes}, condition=condition)

    def _allowed(self, scope: Scope, conversation_id: str, job: Job) -> dict[str, Write]:
        """Require that the conversation does not exist, and that nothing was erased after the job was made.

        The tombstone is deleted: the import makes another conversation, whose rows no sweep may take for the erased
        one's.
        """
        never = TombstoneRow.pk.does_not_exist()
        swept = TombstoneRow.sweeping.does_not_exist()
        before = TombstoneRow.expires_at <= job.created_at + TOMBSTONES_KEPT
        not_erased = ErasedRow.pk.does_not_exist() | (ErasedRow.erased_at < job.created_at)
        return {
            "conversation": self._table.check_write(
                keys.conversation_row(scope, conversation_id), ConversationRow.pk.does_not_exist()
            ),
            "erased": self._table.check_write(erased_row(scope), not_erased),
            "gone": self._table.delete_write(gone_row(scope, conversation_id), condition=never | all_of(swept, before)),
        }

    def _take_over(self, scope: Scope, conversation_id: str, job: Job, incarnation: str, theirs: str) -> None:
        """Replace another import's mark, so that it cannot write any more, and remove the rows that it has written."""
        unchanged = ImportRow.incarnation == theirs
        mark = self._mark_write(scope, conversation_id, job, incarnation, unchanged)
        if self._table.transact_with_retry({"mark": mark}):
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
        partition = ScannedRow.pk == keys.conversation(scope, conversation_id)
        written = self._table.query(partition, ScannedRow.pk, ScannedRow.sk)
        self._removal.remove(list(map(ScannedRow.key_of, written)))

    def _write_marked(self, scope: Scope, conversation_id: str, incarnation: str, puts: dict[str, Write]) -> bool:
        """Write rows if the import's mark is there; False where it is gone, or another condition did not hold."""
        mark = import_row(scope, conversation_id)
        check = self._table.check_write(mark, ImportRow.incarnation == incarnation)
        return self._table.transact_with_retry({"mark": check, **puts}) is None

    def _pointer_write(self, scope: Scope, question: AskedQuestion, keep_days: int) -> Write:
        pointer = question.pointer
        answers = {
            revision: AnswerEntry(seq=seq, context=question.contexts.get(revision))
            for revision, seq in question.answers.items()
        }
        free = PointerRow.pk.does_not_exist() | (PointerRow.conversation_id == pointer.conversation_id)
        item = pointer_item(scope, pointer, answers) | expiring(keep_days, question.last_at)
        return self._table.put_write(item, condition=free)
