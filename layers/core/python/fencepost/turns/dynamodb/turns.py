"""The store operations of a turn: one transaction to claim, three parallel reads, one transaction to settle.

docs/adr/0008 explains which conditions keep processes apart, and why a crash at any point loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, override

from pynamodb.expressions.update import Action

from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.archives import is_expired, is_kept
from fencepost.conversations.domain.messages import Conversation, Message, MessagePointer, MessageStatus, revision_of
from fencepost.conversations.rows.archived import ArchivedMessages
from fencepost.conversations.rows.messages import (
    MessageRows,
    is_past,
    message_row,
    open_question,
    pointer_row,
    read_answers,
    read_conversation,
    read_made_for,
)
from fencepost.conversations.rows.models import ConversationRow, MessageRow
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Membership, Scope
from fencepost.identity.domain.sites import Fact, FactState
from fencepost.kernel.aws.rows import Item, Key, attribute, from_item
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Table
from fencepost.kernel.aws.transactions import Cancelled, Write
from fencepost.kernel.concurrency import run_concurrently
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock
from fencepost.memory import rows as memory_keys
from fencepost.memory.domain.summaries import Summary
from fencepost.turns.domain.turns import Claim, ClaimRefused, Settlement, SettleRefused, TurnMaterial
from fencepost.turns.dynamodb import writes
from fencepost.turns.ports import TurnStore
from fencepost.turns.rows import require_membership

_MEMBER: Final = "member:"
_FILE: Final = "file:"
_OWN_ROWS: Final = 2
"""Rows read beyond the limit: the turn's own question and the answer that it replaces may be among the newest."""


class DynamoDbTurnStore(TurnStore):
    """Stores turns in DynamoDB.

    Args:
        table: name of the conversations' table.
        directory: name of the directory's table.
        blobs: the store of big contents and archived blocks.
        client: makes or returns the client, at the first use.
        clock: decides which rows are past their site's retention.
    """

    def __init__(
        self,
        table: str,
        directory: str,
        blobs: BlobStore,
        client: ClientFactory = dynamodb_client,
        clock: Clock = lambda: datetime.now(UTC),
    ) -> None:
        self._table = Table(table, client)
        self._directory_table = Table(directory, client)
        self._rows = MessageRows(blobs)
        self._archived = ArchivedMessages(table, blobs, client)
        self._clock = clock

    @override
    def claim(self, scope: Scope, claim: Claim) -> ClaimRefused | None:
        wanted = {
            "conversation": writes.take_lease(self._table, scope, claim),
            "pointer": writes.reserve_id(self._table, scope, claim),
        }
        # A question that is stored already has claimed its files before.
        is_new = claim.resumes is None and claim.answers_seq is None
        for attachment_id in claim.attachments if is_new else ():
            wanted[f"{_FILE}{attachment_id}"] = writes.use_file(self._table, scope, claim, attachment_id)
        if user := _member(scope):
            wanted["membership"] = require_membership(self._directory_table, scope, user)
        cancelled = self._table.transact(wanted)
        return None if cancelled is None else _refused(cancelled, claim)

    @override
    def load(self, scope: Scope, conversation_id: str, limit: int) -> TurnMaterial | None:
        """Each query is one page: what does not fit into 1 MB does not fit into a prompt."""
        row_key = keys.conversation_row(scope, conversation_id)
        summary_key = memory_keys.summary_row(scope, conversation_id)

        def pinned_facts() -> tuple[Fact, ...]:
            pinned = (MessageRow.pk == keys.owner(scope)) & MessageRow.sk.startswith(f"fact#{FactState.PINNED}#")
            facts = (from_item(Fact, item) for item in self._table.query_page(pinned).items)
            return tuple(sorted(facts, key=lambda fact: (fact.created_at, fact.id)))

        (rows, membership), newest, facts = run_concurrently(
            lambda: self._rows_and_membership(scope, [row_key, summary_key]),
            lambda: self._newest(scope, conversation_id, limit + _OWN_ROWS),
            pinned_facts,
        )
        row, summary = rows.get(row_key["sk"]["S"]), rows.get(summary_key["sk"]["S"])
        if row is None:
            return None
        conversation, now = read_conversation(row), self._clock()
        return TurnMaterial(
            conversation=conversation,
            recent=tuple(
                message
                for message in newest
                if message.status is not MessageStatus.SUPERSEDED
                and message.seq >= conversation.kept_from
                and is_kept(conversation, message, now)
            ),
            summary=from_item(Summary, summary) if summary else None,
            facts=facts,
            membership=membership,
        )

    @override
    def settle(self, scope: Scope, settlement: Settlement) -> SettleRefused | None:
        settling = self._settling(scope, settlement)
        if user := _member(scope):
            settling["membership"] = writes.require_member(self._directory_table, scope, user)
        cancelled = self._table.transact_with_retry(settling)
        # If an earlier attempt went through, the lease is gone and this turn's answer is stored.
        if cancelled is None or cancelled.met.get("answer", {}).get("holder") == attribute(settlement.holder):
            return None
        membership, row = cancelled.met.get("membership"), cancelled.met.get("conversation")
        return SettleRefused(
            membership_ended=membership is not None,
            membership=from_item(Membership, membership) if membership else None,
            gone=row is not None and row.get("incarnation") != attribute(settlement.conversation.incarnation),
        )

    @override
    def release(self, scope: Scope, conversation_id: str, holder: str, now: datetime) -> None:
        # A single update would be refused while another process tries to claim (docs/adr/0006).
        ending = writes.end_lease(self._table, scope, conversation_id, holder, now)
        self._table.transact_with_retry({"conversation": ending})

    @override
    def park(self, scope: Scope, conversation: Conversation, now: datetime) -> bool:
        row = self._table.get(keys.conversation_row(scope, conversation.id))
        stored = read_conversation(row) if row else None
        dead = conversation.open_turn
        if not row or not stored or not dead or not stored.open_turn or stored.open_turn.holder != dead.holder:
            return False
        parking: dict[str, Write] = {}
        changes: list[Action] = []
        if question := open_question(row):
            item = self._rows.item(scope, stored.id, question, stored.keep_days)
            changes = [ConversationRow.next_seq.set(question.seq + 1), ConversationRow.updated_at.set(now)]
            parking["question"] = writes.put_new(self._table, item)
            parking["pointer"] = writes.note_question(self._table, scope, question.id, question.seq)
        parking["conversation"] = writes.free_lease(self._table, scope, stored.id, dead.holder, *changes)
        return self._table.transact_with_retry(parking) is None

    @override
    def stored_answer(self, scope: Scope, pointer: MessagePointer, key: str | None = None) -> Message | None:
        row = self._table.get(pointer_row(scope, pointer.message_id))
        if row is None:
            return None
        if is_past(row, self._clock()):
            raise FencepostError(ErrorCode.NOT_FOUND)
        answers = read_answers(row)
        revision = read_made_for(row, key) if key else max(answers, default=None)
        return self._message(scope, pointer.conversation_id, answers[revision].seq) if revision else None

    def _message(self, scope: Scope, conversation_id: str, seq: int) -> Message:
        if row := self._table.get(message_row(scope, conversation_id, seq)):
            return self._rows.message(scope, row)
        conversation = self._table.get(keys.conversation_row(scope, conversation_id))
        archived = conversation and self._archived.read(
            scope, read_conversation(conversation), after=seq - 1, limit=1, newest_first=False
        )
        if not archived:
            # The conversation was erased, or the message is past its site's retention.
            raise FencepostError(ErrorCode.NOT_FOUND)
        return archived[0]

    def _settling(self, scope: Scope, settlement: Settlement) -> dict[str, Write]:
        table, conversation_id = self._table, settlement.conversation.id
        answer, question, days = settlement.answer, settlement.question, settlement.conversation.keep_days
        item = self._rows.item(scope, conversation_id, answer, days)
        changes = [ConversationRow.next_seq.set(answer.seq + 1), ConversationRow.updated_at.set(settlement.now)]
        answered, superseded = MessageStatus.ANSWERED, MessageStatus.SUPERSEDED
        settling = {
            "conversation": writes.free_lease(table, scope, conversation_id, settlement.holder, *changes),
            "answer": writes.put_new(table, item | {"holder": attribute(settlement.holder)}),
            "pointer": writes.note_answer(table, scope, settlement, revision_of(answer)),
            "question": writes.set_status(table, scope, conversation_id, settlement.question_seq, answered)
            if question is None
            else writes.put_new(table, self._rows.item(scope, conversation_id, question, days)),
        }
        if (seq := settlement.supersedes) is not None:
            settling["superseded"] = writes.set_status(table, scope, conversation_id, seq, superseded)
        return settling

    def _rows_and_membership(self, scope: Scope, wanted: Sequence[Key]) -> tuple[Mapping[str, Item], Membership | None]:
        """Return rows by their sort keys, and the membership that the scope rests on, in one read."""
        user = _member(scope)
        memberships = [keys.membership_row(scope.org, user)] if user else []
        asked = {self._table: wanted, self._directory_table: memberships}
        found = self._table.batch_get_across({table: some for table, some in asked.items() if some})
        members = [from_item(Membership, item) for item in found.get(self._directory_table, [])]
        return {item["sk"]["S"]: item for item in found[self._table]}, members[0] if members else None

    def _newest(self, scope: Scope, conversation_id: str, limit: int) -> list[Message]:
        here = MessageRow.pk == keys.conversation(scope, conversation_id)
        page = self._table.query_page(here & MessageRow.sk.startswith("m#"), descending=True, limit=limit)
        return [self._rows.message(scope, item) for item in reversed(page.items)]


def _member(scope: Scope) -> str | None:
    """Return the user whose membership the scope rests on; None for visitors."""
    return scope.actor.removeprefix(_MEMBER) if scope.actor.startswith(_MEMBER) else None


def _refused(cancelled: Cancelled, claim: Claim) -> ClaimRefused:
    met, pointer = cancelled.met.get("conversation"), cancelled.met.get("pointer")
    conversation = read_conversation(met) if met else None
    # Retention is that of the conversation's own site; the claim knows only that of the site it asks for.
    here = conversation if conversation and conversation.site == claim.site else None
    expired = here is not None and is_expired(replace(here, keep_days=claim.keep_days), claim.now)
    return ClaimRefused(
        membership_changed="membership" in cancelled.met,
        conversation=None if expired else conversation,
        # An empty item means that a row is absent which has to be there.
        gone=expired or met == {} or pointer == {},
        pointer=from_item(MessagePointer, pointer) if pointer else None,
        files_gone=any(name.startswith(_FILE) for name in cancelled.met),
        contended=cancelled.contended,
    )
