"""One turn's store operations: a transaction that claims, three reads at once, a transaction that settles.

Which conditions keep two processes apart, and why nothing is lost whenever one of them dies, stands in docs/adr/0008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, override

from fencepost.blobs.ports import BlobStore
from fencepost.conversations.domain.archives import is_expired, is_kept
from fencepost.conversations.domain.messages import Conversation, Message, MessagePointer, MessageStatus, revision_of
from fencepost.conversations.rows import messages as conversations_keys
from fencepost.conversations.rows.archived import ArchivedMessages
from fencepost.conversations.rows.messages import (
    MessageRows,
    open_question,
    read_answers,
    read_conversation,
    read_made_for,
)
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Membership, Scope
from fencepost.identity.domain.sites import Fact, FactState
from fencepost.kernel.aws import keys as aws_keys
from fencepost.kernel.aws.legacy.client import ClientFactory, Item, dynamodb_client, store_errors
from fencepost.kernel.aws.legacy.reading import is_past, utc_now
from fencepost.kernel.aws.legacy.rows import attribute, from_item, timestamp
from fencepost.kernel.aws.legacy.transactions import Cancelled, transact, transact_with_retry
from fencepost.kernel.concurrency import run_concurrently
from fencepost.kernel.errors import ErrorCode, FencepostError
from fencepost.kernel.ports import Clock
from fencepost.memory import rows as memory_keys
from fencepost.memory.domain.summaries import Summary
from fencepost.turns.domain.turns import Claim, ClaimRefused, Settlement, SettleRefused, TurnMaterial
from fencepost.turns.dynamodb import writes as actions
from fencepost.turns.ports import TurnStore
from fencepost.turns.rows import membership_check

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import KeysAndAttributesTypeDef, QueryInputTypeDef, TransactWriteItemTypeDef

_MEMBER: Final = "member:"
_FILE: Final = "file:"
_OWN_ROWS: Final = 2
"""A turn's own question and the answer that it replaces may be among the newest rows: so many more are read."""


class DynamoDbTurnStore(TurnStore):
    """Implements `fencepost.turns.ports.TurnStore`.

    Args:
        table: name of the conversations' table.
        directory: name of the directory's table.
        blobs: where big contents are.
        client: makes or returns the client, at the first use.
        clock: tells what is too old to be read.
    """

    def __init__(
        self,
        table: str,
        directory: str,
        blobs: BlobStore,
        client: ClientFactory = dynamodb_client,
        clock: Clock = utc_now,
    ) -> None:
        self._table = table
        self._directory = directory
        self._rows = MessageRows(blobs)
        self._clock = clock
        self._archived = ArchivedMessages(table, blobs, client)
        self._client = client

    @override
    def claim(self, scope: Scope, claim: Claim) -> ClaimRefused | None:
        wanted: dict[str, TransactWriteItemTypeDef] = {
            "conversation": actions.take_lease(self._table, scope, claim),
            "pointer": actions.point(self._table, scope, claim),
        }
        wanted |= {f"{_FILE}{one}": actions.use_file(self._table, scope, claim, one) for one in _brought(claim)}
        if user := _member(scope):
            wanted["membership"] = membership_check(self._directory, scope, user)
        cancelled = transact(self._client(), wanted)
        return None if cancelled is None else _refused(cancelled, claim)

    @override
    def load(self, scope: Scope, conversation_id: str, limit: int) -> TurnMaterial | None:
        """Each page read is bounded: what does not fit into it is not for a prompt."""
        rows, messages, facts = run_concurrently(
            lambda: self._own_rows(scope, conversation_id),
            lambda: self._newest(scope, conversation_id, limit + _OWN_ROWS),
            lambda: self._query(self._beginning(keys.owner(scope), f"fact#{FactState.PINNED}#")),
        )
        row, summary, membership = rows
        if row is None:
            return None
        conversation, now = read_conversation(row), self._clock()
        kept = (message for message in messages if is_kept(conversation, message, now))
        return TurnMaterial(
            conversation=conversation,
            recent=tuple(message for message in kept if message.seq >= conversation.kept_from),
            summary=from_item(Summary, summary) if summary else None,
            facts=tuple(sorted((from_item(Fact, row) for row in facts), key=lambda fact: (fact.created_at, fact.id))),
            membership=from_item(Membership, membership) if membership else None,
        )

    @override
    def settle(self, scope: Scope, settlement: Settlement) -> SettleRefused | None:
        settling = self._settling(scope, settlement)
        if user := _member(scope):
            settling["membership"] = actions.still_member(self._directory, scope, user)
        cancelled = transact_with_retry(self._client(), settling)
        # The lease is gone since an earlier attempt went through: then this very answer stands where it should.
        if cancelled is None or cancelled.met.get("answer", {}).get("holder") == attribute(settlement.holder):
            return None
        return _unsettled(cancelled, settlement)

    @override
    def release(self, scope: Scope, conversation_id: str, holder: str, now: datetime) -> None:
        # A plain update would be turned away while somebody who waits tries to claim (docs/adr/0006).
        ending = actions.end_lease(self._table, scope, conversation_id, holder, timestamp(now))
        transact_with_retry(self._client(), {"conversation": ending})

    @override
    def park(self, scope: Scope, conversation: Conversation, now: datetime) -> bool:
        row = self._get(keys.conversation_row(scope, conversation.id))
        stored = read_conversation(row) if row else None
        turn = stored.open_turn if stored else None
        if not stored or not turn or not conversation.open_turn or turn.holder != conversation.open_turn.holder:
            return False
        parking = self._parking(scope, stored, turn.holder, open_question(row), now)
        return transact_with_retry(self._client(), parking) is None

    @override
    def stored_answer(self, scope: Scope, pointer: MessagePointer, key: str | None = None) -> Message | None:
        row = self._get(conversations_keys.pointer_row(scope, pointer.message_id))
        if is_past(row, self._clock()):
            raise FencepostError(ErrorCode.NOT_FOUND)
        answers = read_answers(row) if row else {}
        revision = read_made_for(row, key) if key else max(answers, default=None)
        return self._message(scope, pointer.conversation_id, answers[revision].seq) if revision else None

    def _message(self, scope: Scope, conversation_id: str, seq: int) -> Message:
        if row := self._get(conversations_keys.message_row(scope, conversation_id, seq)):
            return self._rows.message(scope, row)
        conversation = self._get(keys.conversation_row(scope, conversation_id))
        archived = conversation and self._archived.read(
            scope, read_conversation(conversation), after=seq - 1, limit=1, newest_first=False
        )
        if not archived:
            # Its conversation was erased, or it is older than its site keeps messages.
            raise FencepostError(ErrorCode.NOT_FOUND)
        return archived[0]

    def _settling(self, scope: Scope, settlement: Settlement) -> dict[str, TransactWriteItemTypeDef]:
        table, conversation_id = self._table, settlement.conversation.id
        answer, question, days = settlement.answer, settlement.question, settlement.conversation.keep_days
        sets = {"next_seq": attribute(answer.seq + 1), "updated_at": attribute(timestamp(settlement.now))}
        item = self._rows.item(scope, conversation_id, answer, days)
        answered = MessageStatus.ANSWERED
        settling = {
            "conversation": actions.free_lease(table, scope, conversation_id, settlement.holder, sets),
            "answer": actions.put_new(table, item | {"holder": attribute(settlement.holder)}),
            "pointer": actions.note_answer(table, scope, settlement, revision_of(answer)),
            "question": actions.set_status(table, scope, conversation_id, settlement.question_seq, answered)
            if question is None
            else actions.put_new(table, self._rows.item(scope, conversation_id, question, days)),
        }
        if settlement.supersedes is not None:
            superseded = MessageStatus.SUPERSEDED
            settling["superseded"] = actions.set_status(
                table, scope, conversation_id, settlement.supersedes, superseded
            )
        return settling

    def _parking(
        self, scope: Scope, conversation: Conversation, holder: str, question: Message | None, now: datetime
    ) -> dict[str, TransactWriteItemTypeDef]:
        if question is None:
            return {"conversation": actions.free_lease(self._table, scope, conversation.id, holder, {})}
        row = self._rows.item(scope, conversation.id, question, conversation.keep_days)
        sets = {"next_seq": attribute(question.seq + 1), "updated_at": attribute(timestamp(now))}
        return {
            "conversation": actions.free_lease(self._table, scope, conversation.id, holder, sets),
            "question": actions.put_new(self._table, row),
            "pointer": actions.note_question(self._table, scope, question.id, question.seq),
        }

    def _own_rows(self, scope: Scope, conversation_id: str) -> tuple[Item | None, Item | None, Item | None]:
        conversation = keys.conversation_row(scope, conversation_id)
        summary = aws_keys.key(keys.conversation(scope, conversation_id), memory_keys.SUMMARY)
        wanted = {self._table: [conversation, summary]}
        if user := _member(scope):
            wanted[self._directory] = [keys.membership_row(scope.org, user)]
        found = self._batch(wanted)
        own = {row["sk"]["S"]: row for row in found.get(self._table, [])}
        membership = next(iter(found.get(self._directory, [])), None)
        return own.get(conversation["sk"]["S"]), own.get(memory_keys.SUMMARY), membership

    def _newest(self, scope: Scope, conversation_id: str, limit: int) -> list[Message]:
        query = self._beginning(keys.conversation(scope, conversation_id), "m#")
        rows = self._query({**query, "ScanIndexForward": False, "Limit": limit})
        messages = (self._rows.message(scope, row) for row in reversed(rows))
        return [message for message in messages if message.status is not MessageStatus.SUPERSEDED]

    def _batch(self, wanted: dict[str, list[aws_keys.Key]]) -> dict[str, Sequence[Item]]:
        request: dict[str, KeysAndAttributesTypeDef] = {
            table: {"Keys": rows, "ConsistentRead": True} for table, rows in wanted.items()
        }
        try:
            answer = self._client().batch_get_item(RequestItems=request)
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
        if answer.get("UnprocessedKeys"):
            # Three small rows: only a throttled table leaves any of them out.
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE)
        return dict(answer["Responses"])

    def _query(self, query: QueryInputTypeDef) -> list[Item]:
        try:
            answer = self._client().query(**query)
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
        return list(answer["Items"])

    def _get(self, key: aws_keys.Key) -> Item:
        try:
            answer = self._client().get_item(TableName=self._table, Key=key, ConsistentRead=True)
        except store_errors():
            raise FencepostError(ErrorCode.CONVERSATIONS_UNAVAILABLE) from None
        return answer.get("Item", {})

    def _beginning(self, partition: str, prefix: str) -> QueryInputTypeDef:
        return {
            "TableName": self._table,
            "ConsistentRead": True,
            "KeyConditionExpression": "pk = :pk AND begins_with(sk, :prefix)",
            "ExpressionAttributeValues": {":pk": {"S": partition}, ":prefix": {"S": prefix}},
        }


def _member(scope: Scope) -> str | None:
    """Return the user whose membership the scope rests on."""
    return scope.actor.removeprefix(_MEMBER) if scope.actor.startswith(_MEMBER) else None


def _brought(claim: Claim) -> Sequence[str]:
    """Return the files that come with a claim. A question that stands there already has brought its own before."""
    return claim.attachments if claim.resumes is None and claim.answers_seq is None else ()


def _refused(cancelled: Cancelled, claim: Claim) -> ClaimRefused:
    met, pointer = cancelled.met.get("conversation"), cancelled.met.get("pointer")
    conversation = read_conversation(met) if met else None
    # By the rules of another site than its own nothing is too old.
    here = conversation if conversation and conversation.site == claim.site else None
    expired = here is not None and is_expired(replace(here, keep_days=claim.keep_days), claim.now)
    return ClaimRefused(
        membership_changed="membership" in cancelled.met,
        conversation=None if expired else conversation,
        # Either a row that must be there is not, or one that must not be there is: that one is not empty.
        gone=expired or met == {} or pointer == {},
        pointer=from_item(MessagePointer, pointer) if pointer else None,
        files_gone=any(name.startswith(_FILE) for name in cancelled.met),
        contended=cancelled.contended,
    )


def _unsettled(cancelled: Cancelled, settlement: Settlement) -> SettleRefused:
    membership, row = cancelled.met.get("membership"), cancelled.met.get("conversation")
    return SettleRefused(
        membership_ended=membership is not None,
        membership=from_item(Membership, membership) if membership else None,
        gone=row is not None and row.get("incarnation") != attribute(settlement.conversation.incarnation),
    )
