"""Keys of the conversations' table. Each is made from a `Scope`, so none can lead out of it.

    partition                              sort key             row
    org#<org>#own#<owner>                  conv#<id>            a conversation; `updated_at` is the index's sort key
                                           msg#<message id>     where a question stands, with its answers' contexts
                                           fact#<state>#<id>    a fact
                                           job#<id>             a job that a client asked for
                                           file#<id>            an attachment
                                           erased               when everything of the owner was last erased
                                           receipt#<id>         what an erasure removed
    org#<org>#own#<owner>#conv#<id>        m#<seq>              a message, twelve digits, so that text sorts as numbers
                                           block#<first seq>    a block of messages that moved to S3
                                           summary              the rolling summary
    org#<org>#                             diag#<id>            a diagnosis that an admin opened

The same names, with slashes, are the prefixes in S3: `<org>/<owner>/…` and `<org>/<owner>/conv/<id>/…`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from fencepost.domain.identity import Scope
from fencepost.domain.memory import FactState

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

type Key = dict[str, AttributeValueTypeDef]

SUMMARY = "summary"
ERASED = "erased"


def organisation(org: str) -> str:
    """Return the partition of what belongs to an organisation and to nobody in it."""
    return f"org#{_safe(org)}#"


def owner(scope: Scope) -> str:
    """Return the partition of an owner."""
    return f"{organisation(scope.org)}own#{_safe(scope.owner)}"


def conversation(scope: Scope, conversation_id: str) -> str:
    """Return the partition of a conversation's messages."""
    return f"{owner(scope)}#conv#{_safe(conversation_id)}"


def conversation_row(scope: Scope, conversation_id: str) -> Key:
    """Return the key of a conversation's own row."""
    return key(owner(scope), f"conv#{_safe(conversation_id)}")


def pointer_row(scope: Scope, message_id: str) -> Key:
    """Return the key of a question's pointer."""
    return key(owner(scope), f"msg#{_safe(message_id)}")


def message_row(scope: Scope, conversation_id: str, seq: int) -> Key:
    """Return the key of a message."""
    return key(conversation(scope, conversation_id), message_sort(seq))


def message_sort(seq: int) -> str:
    """Return a message's sort key."""
    return f"m#{seq:012d}"


def fact_row(scope: Scope, state: FactState, fact_id: str) -> Key:
    """Return the key of a fact."""
    return key(owner(scope), f"fact#{state}#{_safe(fact_id)}")


def job_row(scope: Scope, job_id: str) -> Key:
    """Return the key of a job's record."""
    return key(owner(scope), f"job#{_safe(job_id)}")


def key(partition: str, sort: str) -> Key:
    """Return a row's key as DynamoDB takes it."""
    return {"pk": {"S": partition}, "sk": {"S": sort}}


def object_prefix(scope: Scope) -> str:
    """Return the prefix of an owner's objects in S3."""
    return f"{_safe(scope.org)}/{_safe(scope.owner)}/"


def _safe(part: str) -> str:
    """Quote what separates the parts of a key, and all else that is not plain."""
    return quote(part, safe="")
