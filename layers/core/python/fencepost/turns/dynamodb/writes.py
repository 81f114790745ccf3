"""The writes that the transactions of a turn are made of, each on its own condition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from fencepost.conversations.domain.archives import cutoff
from fencepost.conversations.domain.attachments import MOST_CONVERSATIONS
from fencepost.conversations.domain.messages import Conversation, MessagePointer, MessageStatus, OpenTurn
from fencepost.conversations.rows import messages as conversations_keys
from fencepost.conversations.rows.messages import (
    NEXT_SEQ,
    AnswerEntry,
    conversation_item,
    expiring,
    pointer_item,
)
from fencepost.conversations.rows.models import PointerRow
from fencepost.identity import rows as keys
from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.legacy.reading import EXPIRES_AT
from fencepost.kernel.aws.legacy.rows import attribute, nested, timestamp
from fencepost.turns.domain.turns import Claim, Settlement
from fencepost.turns.rows import open_fields

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, TransactWriteItemTypeDef


_FREED: Final = "REMOVE open_turn, open_content, open_attachments, open_at"


def still_member(table: str, scope: Scope, user: str) -> TransactWriteItemTypeDef:
    """Require that the membership is active, whatever changed in it since the claim."""
    return {
        "ConditionCheck": {
            "TableName": table,
            "Key": keys.membership_row(scope.org, user),
            "ConditionExpression": "active = :active",
            "ExpressionAttributeValues": {":active": attribute(True)},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
    }


def take_lease(table: str, scope: Scope, claim: Claim) -> TransactWriteItemTypeDef:
    """Write the open turn into the conversation's row, a new one or the one that is there."""
    if claim.begins is not None:
        return _begin(table, scope, claim, claim.begins)
    fields = {"open_turn": nested(_open_turn(claim)), "keep_days": attribute(claim.keep_days)}
    # A question that is a row, or stands here already, is not written again.
    if claim.resumes is None and claim.answers_seq is None:
        fields |= open_fields(claim)
    if claim.resumes is None:
        free = "attribute_not_exists(open_turn) OR open_turn.holder = :holder"
        return _update(table, scope, claim, fields, f"attribute_exists(incarnation) AND site = :site AND ({free})")
    return _resume(table, scope, claim)


def point(table: str, scope: Scope, claim: Claim) -> TransactWriteItemTypeDef:
    """Reserve the message's id, or require that the answer to be made of it is not there yet."""
    if claim.resumes is None and claim.answers_seq is None:
        pointer = MessagePointer(claim.message_id, claim.conversation_id, NEXT_SEQ, claim.fingerprint)
        return {
            "Put": {
                "TableName": table,
                "Item": pointer_item(scope, pointer, {})
                | {"claimed_by": attribute(claim.holder)}
                | expiring(claim.keep_days, claim.now),
                "ConditionExpression": "attribute_not_exists(pk) OR claimed_by = :holder",
                "ExpressionAttributeValues": {":holder": attribute(claim.holder)},
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }
    return _unanswered(table, scope, claim)


def use_file(table: str, scope: Scope, claim: Claim, attachment_id: str) -> TransactWriteItemTypeDef:
    """Note in a file's row which conversation uses it, so that it goes with the last one that does."""
    return {
        "Update": {
            "TableName": table,
            "Key": conversations_keys.file_row(scope, attachment_id),
            "UpdateExpression": "ADD used_by :users",
            "ConditionExpression": "attribute_exists(pk) AND (attribute_not_exists(used_by)"
            " OR contains(used_by, :user) OR size(used_by) < :most)",
            "ExpressionAttributeValues": {
                ":users": {"SS": [claim.conversation_id]},
                ":user": attribute(claim.conversation_id),
                ":most": attribute(MOST_CONVERSATIONS),
            },
        }
    }


def free_lease(
    table: str, scope: Scope, conversation_id: str, holder: str, sets: Mapping[str, AttributeValueTypeDef]
) -> TransactWriteItemTypeDef:
    """Take the open turn out of the conversation's row, if it is this holder's, and set what comes with that."""
    values = {f":{name}": value for name, value in sets.items()}
    set_fields = "SET " + ", ".join(f"{name} = :{name}" for name in sets) if sets else ""
    return {
        "Update": {
            "TableName": table,
            "Key": keys.conversation_row(scope, conversation_id),
            "UpdateExpression": f"{set_fields} {_FREED}".strip(),
            "ConditionExpression": "open_turn.holder = :holder",
            "ExpressionAttributeValues": {":holder": attribute(holder), **values},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
    }


def note_answer(table: str, scope: Scope, settlement: Settlement, revision: int) -> TransactWriteItemTypeDef:
    """Say in the question's pointer where it and its new answer stand, and what went into that.

    It is there for as long as the answer is.
    """
    entry = AnswerEntry(seq=settlement.answer.seq, context=settlement.context)
    ends = expiring(settlement.conversation.keep_days, settlement.answer.created_at)
    lasting = f", {EXPIRES_AT} = :{EXPIRES_AT}" if ends else f" REMOVE {EXPIRES_AT}"
    names = {"#revision": str(revision)} | (
        {"#key": PointerRow.made_for.name(settlement.key)} if settlement.key else {}
    )
    made_for = ", #key = :revision" if settlement.key else ""
    return {
        "Update": {
            "TableName": table,
            "Key": conversations_keys.pointer_row(scope, settlement.question_id),
            "UpdateExpression": f"SET seq = :seq, answers.#revision = :entry{made_for}{lasting}",
            "ConditionExpression": "attribute_exists(pk)",
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": {
                ":seq": attribute(settlement.question_seq),
                ":entry": nested(entry),
                **({":revision": attribute(revision)} if settlement.key else {}),
                **{f":{name}": value for name, value in ends.items()},
            },
        }
    }


def note_question(table: str, scope: Scope, message_id: str, seq: int) -> TransactWriteItemTypeDef:
    """Say in a question's pointer that it is a row, and which."""
    return {
        "Update": {
            "TableName": table,
            "Key": conversations_keys.pointer_row(scope, message_id),
            "UpdateExpression": "SET seq = :seq",
            "ConditionExpression": "attribute_exists(pk)",
            "ExpressionAttributeValues": {":seq": attribute(seq)},
        }
    }


def set_status(
    table: str, scope: Scope, conversation_id: str, seq: int, status: MessageStatus
) -> TransactWriteItemTypeDef:
    """Change what became of a message."""
    return {
        "Update": {
            "TableName": table,
            "Key": conversations_keys.message_row(scope, conversation_id, seq),
            "UpdateExpression": "SET #status = :status",
            "ConditionExpression": "attribute_exists(pk)",
            "ExpressionAttributeNames": {"#status": "status"},
            "ExpressionAttributeValues": {":status": attribute(status)},
        }
    }


def put_new(table: str, item: dict[str, AttributeValueTypeDef]) -> TransactWriteItemTypeDef:
    """Store a row where there is none."""
    return {
        "Put": {
            "TableName": table,
            "Item": item,
            "ConditionExpression": "attribute_not_exists(pk)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
    }


def end_lease(table: str, scope: Scope, conversation_id: str, holder: str, until: str) -> TransactWriteItemTypeDef:
    """Let a lease be over, and leave its question where it is."""
    return {
        "Update": {
            "TableName": table,
            "Key": keys.conversation_row(scope, conversation_id),
            "UpdateExpression": "SET open_turn.#until = :until",
            "ConditionExpression": "open_turn.holder = :holder",
            "ExpressionAttributeNames": {"#until": "until"},
            "ExpressionAttributeValues": {":holder": attribute(holder), ":until": attribute(until)},
        }
    }


def _unanswered(table: str, scope: Scope, claim: Claim) -> TransactWriteItemTypeDef:
    condition = "attribute_exists(pk) AND attribute_not_exists(answers.#revision)"
    names = {"#revision": str(claim.regenerates or 1)}
    if claim.key:
        condition += " AND attribute_not_exists(#key)"
        names["#key"] = PointerRow.made_for.name(claim.key)
    return {
        "ConditionCheck": {
            "TableName": table,
            "Key": conversations_keys.pointer_row(scope, claim.message_id),
            "ConditionExpression": condition,
            "ExpressionAttributeNames": names,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
    }


def _open_turn(claim: Claim) -> OpenTurn:
    return OpenTurn(
        message_id=claim.message_id,
        seq=claim.answers_seq or NEXT_SEQ,
        holder=claim.holder,
        until=claim.until,
        regenerates=claim.regenerates,
        key=claim.key,
    )


def _begin(table: str, scope: Scope, claim: Claim, conversation: Conversation) -> TransactWriteItemTypeDef:
    item = conversation_item(scope, conversation)
    return {
        "Put": {
            "TableName": table,
            "Item": item | {"open_turn": nested(_open_turn(claim)), **open_fields(claim)},
            "ConditionExpression": "attribute_not_exists(pk) OR open_turn.holder = :holder",
            "ExpressionAttributeValues": {":holder": attribute(claim.holder)},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
    }


def _update(
    table: str, scope: Scope, claim: Claim, fields: Mapping[str, AttributeValueTypeDef], condition: str
) -> TransactWriteItemTypeDef:
    values = {f":{name}": value for name, value in fields.items()}
    values |= {":holder": attribute(claim.holder), ":site": attribute(claim.site)}
    if oldest := cutoff(claim.keep_days, claim.now):
        # What is too old is as good as gone, and may be removed at any moment.
        condition += " AND (updated_at >= :oldest OR open_turn.holder = :holder)"
        values[":oldest"] = attribute(timestamp(oldest))
    return {
        "Update": {
            "TableName": table,
            "Key": keys.conversation_row(scope, claim.conversation_id),
            "UpdateExpression": "SET " + ", ".join(f"{name} = :{name}" for name in fields),
            "ConditionExpression": condition,
            "ExpressionAttributeValues": values,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
    }


def _resume(table: str, scope: Scope, claim: Claim) -> TransactWriteItemTypeDef:
    return {
        "Update": {
            "TableName": table,
            "Key": keys.conversation_row(scope, claim.conversation_id),
            "UpdateExpression": "SET open_turn.holder = :holder, open_turn.#until = :until",
            "ConditionExpression": "open_turn.holder IN (:dead, :holder) AND site = :site",
            "ExpressionAttributeNames": {"#until": "until"},
            "ExpressionAttributeValues": {
                ":holder": attribute(claim.holder),
                ":dead": attribute(claim.resumes),
                ":site": attribute(claim.site),
                ":until": attribute(timestamp(claim.until)),
            },
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
    }
