"""The writes of a turn's transactions, each with its own condition."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from pynamodb.expressions.update import Action

from fencepost.conversations.domain.archives import cutoff
from fencepost.conversations.domain.attachments import MOST_CONVERSATIONS
from fencepost.conversations.domain.messages import MessagePointer, MessageStatus, OpenTurn
from fencepost.conversations.rows.messages import (
    NEXT_SEQ,
    AnswerEntry,
    conversation_item,
    expiring,
    file_row,
    message_row,
    pointer_item,
    pointer_row,
)
from fencepost.conversations.rows.models import ConversationRow, FileRow, MessageRow, PointerRow
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import MembershipRow
from fencepost.kernel.aws.expressions import all_of, any_of, size_of
from fencepost.kernel.aws.rows import attribute, nested, set_item
from fencepost.kernel.aws.table import Table
from fencepost.kernel.aws.transactions import Write
from fencepost.turns.domain.turns import Claim, Settlement
from fencepost.turns.rows import open_fields

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef


def require_member(directory: Table, scope: Scope, user: str) -> Write:
    """Return the check that a membership is active, of whatever version: it may have changed since the claim."""
    active = MembershipRow.active == True  # noqa: E712 - makes an expression
    return directory.check_write(keys.membership_row(scope.org, user), active)


def take_lease(table: Table, scope: Scope, claim: Claim) -> Write:
    """Return the write that puts the open turn into the conversation's row: a new row, or the one that is there."""
    turn = OpenTurn(
        message_id=claim.message_id,
        seq=claim.answers_seq or NEXT_SEQ,
        holder=claim.holder,
        until=claim.until,
        regenerates=claim.regenerates,
        key=claim.key,
    )
    # A claim whose answer was lost and is repeated finds its own holder.
    ours = ConversationRow.open_turn_holder == claim.holder
    if claim.begins is not None:
        item = conversation_item(scope, claim.begins) | {"open_turn": nested(turn)} | open_fields(claim)
        return table.put_write(item, condition=ConversationRow.pk.does_not_exist() | ours)
    row = keys.conversation_row(scope, claim.conversation_id)
    here = ConversationRow.site == claim.site
    if claim.resumes is not None:
        holders = ConversationRow.open_turn_holder.is_in(claim.resumes, claim.holder)
        actions: Sequence[Action] = (
            ConversationRow.open_turn_holder.set(claim.holder),
            ConversationRow.open_turn_until.set(claim.until),
        )
        return table.update_write(row, *actions, condition=holders & here)
    # A question that is a row already is not written again.
    question = open_fields(claim) if claim.answers_seq is None else {}
    actions = (
        ConversationRow.open_turn.set(nested(turn)),
        ConversationRow.keep_days.set(claim.keep_days),
        *set_item(question),
    )
    free = ConversationRow.open_turn.does_not_exist() | ours
    oldest = cutoff(claim.keep_days, claim.now)
    # An expired conversation counts as gone: it may be removed at any moment.
    kept = None if oldest is None else (ConversationRow.updated_at >= oldest) | ours
    condition = all_of(ConversationRow.incarnation.exists(), here, free, kept)
    return table.update_write(row, *actions, condition=condition)


def reserve_id(table: Table, scope: Scope, claim: Claim) -> Write:
    """Return the write that reserves the message's id, or the check that the answer to be made is not there yet."""
    if claim.resumes is None and claim.answers_seq is None:
        pointer = MessagePointer(claim.message_id, claim.conversation_id, NEXT_SEQ, claim.fingerprint)
        item = pointer_item(scope, pointer, {}) | {"claimed_by": attribute(claim.holder)}
        item |= expiring(claim.keep_days, claim.now)
        return table.put_write(item, condition=PointerRow.pk.does_not_exist() | (PointerRow.claimed_by == claim.holder))
    made_for = PointerRow.made_for[claim.key].does_not_exist() if claim.key else None
    unanswered = PointerRow.answer[claim.regenerates or 1].does_not_exist()
    return table.check_write(pointer_row(scope, claim.message_id), all_of(PointerRow.pk.exists(), unanswered, made_for))


def use_file(table: Table, scope: Scope, claim: Claim, attachment_id: str) -> Write:
    """Return the write that notes in a file's row that the conversation uses the file."""
    used = any_of(
        FileRow.used_by.does_not_exist(),
        FileRow.used_by.contains(claim.conversation_id),
        size_of(FileRow.used_by) < MOST_CONVERSATIONS,
    )
    return table.update_write(
        file_row(scope, attachment_id),
        FileRow.used_by.add({claim.conversation_id}),
        condition=FileRow.pk.exists() & used,
    )


def free_lease(table: Table, scope: Scope, conversation_id: str, holder: str, *changes: Action) -> Write:
    """Return the write that removes a holder's open turn from the conversation's row, with further changes."""
    return table.update_write(
        keys.conversation_row(scope, conversation_id),
        *changes,
        ConversationRow.open_turn.remove(),
        ConversationRow.open_content.remove(),
        ConversationRow.open_attachments.remove(),
        ConversationRow.open_at.remove(),
        condition=ConversationRow.open_turn_holder == holder,
    )


def note_answer(table: Table, scope: Scope, settlement: Settlement, revision: int) -> Write:
    """Return the write that adds an answer to its question's pointer, which expires with the answer."""
    entry = AnswerEntry(seq=settlement.answer.seq, context=settlement.context)
    expiry = expiring(settlement.conversation.keep_days, settlement.answer.created_at)
    made_for = [PointerRow.made_for[settlement.key].set(revision)] if settlement.key else []
    return table.update_write(
        pointer_row(scope, settlement.question_id),
        PointerRow.seq.set(settlement.question_seq),
        PointerRow.answer[revision].set(nested(entry)),
        *made_for,
        *(set_item(expiry) if expiry else [PointerRow.expires_at.remove()]),
        condition=PointerRow.pk.exists(),
    )


def note_question(table: Table, scope: Scope, message_id: str, seq: int) -> Write:
    """Return the write that sets the number of a question's row in its pointer."""
    return table.update_write(pointer_row(scope, message_id), PointerRow.seq.set(seq), condition=PointerRow.pk.exists())


def set_status(table: Table, scope: Scope, conversation_id: str, seq: int, status: MessageStatus) -> Write:
    """Return the write that sets a message's status."""
    row = message_row(scope, conversation_id, seq)
    return table.update_write(row, MessageRow.status.set(status), condition=MessageRow.pk.exists())


def put_new(table: Table, item: dict[str, AttributeValueTypeDef]) -> Write:
    """Return the write that stores a message where there is none."""
    return table.put_write(item, condition=MessageRow.pk.does_not_exist())


def end_lease(table: Table, scope: Scope, conversation_id: str, holder: str, until: datetime) -> Write:
    """Return the write that ends a holder's lease and leaves its question in place."""
    return table.update_write(
        keys.conversation_row(scope, conversation_id),
        ConversationRow.open_turn_until.set(until),
        condition=ConversationRow.open_turn_holder == holder,
    )
