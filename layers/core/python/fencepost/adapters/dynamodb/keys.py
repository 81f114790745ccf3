"""Keys of the conversations' table. Each is made from a `Scope`, so none can lead out of it.

    partition                              sort key             row
    org#<org>#own#<owner>                  conv#<id>            a conversation; `updated_at` is the index's sort key
                                           msg#<message id>     where a question stands, with its answers' contexts
                                           fact#<state>#<id>    a fact
                                           work#facts           a count of the facts' changes
                                           job#<id>             a job that a client asked for
                                           file#<id>            an attachment
                                           import#<id>          a conversation that an import is writing
                                           erased               `erased_at`: when everything of the owner last was
                                           gone#<id>            a tombstone: the conversation was erased
    org#<org>#own#<owner>#conv#<id>        m#<seq>              a message, twelve digits, so that text sorts as numbers
                                           block#<first seq>    a block of messages that moved to S3
                                           rating#<seq>         what the owner thinks of an answer in a block
                                           vec#<seq>#<part>     what the index holds of a message's part
                                           summary              the rolling summary
                                           work#<purpose>       who is at such a job, and how far it has come
    org#<org>#                             diag#<id>            a diagnosis that an admin opened
                                           look#<id>#<time>…    a look that was taken in it

The same names, with slashes, are the prefixes in S3: `<org>/<owner>/…` and `<org>/<owner>/conv/<id>/…`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from fencepost.domain.identity import Scope
from fencepost.domain.jobs import Purpose
from fencepost.domain.memory import FactState

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

type Key = dict[str, AttributeValueTypeDef]

SUMMARY = "summary"
ERASED = "erased"
SITES = "site#"
MEMBERS = "member#"
DIAGNOSES = "diag#"
FACTS = "work#facts"
PARTS = "vec#"

ROLL = "organisations"
REMEMBERED = "remembered"
"""The index of conversations that have parts in the vector index, and the name of its partition key, which is the
organisation's own partition: a session that is bound to the organisation may name it, and no other."""

_OWNER = re.compile("org#(?P<org>[^#]+)#own#(?P<owner>[^#]+)")
_CONVERSATION = re.compile("org#[^#]+#own#(?P<owner>[^#]+)#conv#(?P<id>[^#]+)")


def organisation(org: str) -> str:
    """Return the partition of what belongs to an organisation and to nobody in it."""
    return f"org#{quoted(org)}#"


def owner(scope: Scope) -> str:
    """Return the partition of an owner."""
    return f"{organisation(scope.org)}own#{quoted(scope.owner)}"


def conversation(scope: Scope, conversation_id: str) -> str:
    """Return the partition of a conversation's messages."""
    return f"{owner(scope)}#conv#{quoted(conversation_id)}"


def conversation_row(scope: Scope, conversation_id: str) -> Key:
    """Return the key of a conversation's own row."""
    return key(owner(scope), f"conv#{quoted(conversation_id)}")


def pointer_row(scope: Scope, message_id: str) -> Key:
    """Return the key of a question's pointer."""
    return key(owner(scope), f"msg#{quoted(message_id)}")


def message_row(scope: Scope, conversation_id: str, seq: int) -> Key:
    """Return the key of a message."""
    return key(conversation(scope, conversation_id), message_sort(seq))


def message_sort(seq: int) -> str:
    """Return a message's sort key."""
    return f"m#{seq:012d}"


def fact_row(scope: Scope, state: FactState, fact_id: str) -> Key:
    """Return the key of a fact."""
    return key(owner(scope), f"fact#{state}#{quoted(fact_id)}")


def organisation_row(org: str) -> Key:
    """Return the key of an organisation in the directory's table."""
    return key(organisation(org), "org")


def site_row(org: str, site_id: str) -> Key:
    """Return the key of a site in the directory's table."""
    return key(organisation(org), f"{SITES}{quoted(site_id)}")


def public_key_row(public_key: str) -> Key:
    """Return the key of the row that leads from a site's public key to the site, in the directory's table."""
    return key(f"key#{quoted(public_key)}", "site")


def membership_row(org: str, user: str) -> Key:
    """Return the key of a membership in the directory's table, which is read before there is a `Scope`."""
    return key(organisation(org), f"{MEMBERS}{quoted(user)}")


def job_row(scope: Scope, job_id: str) -> Key:
    """Return the key of a job's record."""
    return key(owner(scope), f"job#{quoted(job_id)}")


def erased_row(scope: Scope) -> Key:
    """Return the key of the row that says when everything of the owner was last erased."""
    return key(owner(scope), ERASED)


def gone_row(scope: Scope, conversation_id: str) -> Key:
    """Return the key of a conversation's tombstone."""
    return key(owner(scope), f"gone#{quoted(conversation_id)}")


def work_row(scope: Scope, conversation_id: str, purpose: Purpose) -> Key:
    """Return the key of the lease of one purpose's jobs on a conversation."""
    return key(conversation(scope, conversation_id), f"work#{purpose}")


def file_row(scope: Scope, attachment_id: str) -> Key:
    """Return the key of an attachment."""
    return key(owner(scope), f"file#{quoted(attachment_id)}")


def import_row(scope: Scope, conversation_id: str) -> Key:
    """Return the key of the mark that an import is writing a conversation."""
    return key(owner(scope), f"import#{quoted(conversation_id)}")


def block_row(scope: Scope, conversation_id: str, first_seq: int) -> Key:
    """Return the key of a block of archived messages."""
    return key(conversation(scope, conversation_id), block_sort(first_seq))


def block_sort(first_seq: int) -> str:
    """Return a block's sort key."""
    return f"block#{first_seq:012d}"


def diagnosis_row(scope: Scope, diagnosis_id: str) -> Key:
    """Return the key of a diagnosis."""
    return key(organisation(scope.org), f"{DIAGNOSES}{quoted(diagnosis_id)}")


def look_row(scope: Scope, diagnosis_id: str, time: str, suffix: str) -> Key:
    """Return the key of a look: `time` sorts as text, and `suffix` keeps apart looks of one moment."""
    return key(organisation(scope.org), f"{look_prefix(diagnosis_id)}{time}#{suffix}")


def look_prefix(diagnosis_id: str) -> str:
    """Return what the sort keys of a diagnosis' looks begin with."""
    return f"look#{quoted(diagnosis_id)}#"


def summary_row(scope: Scope, conversation_id: str) -> Key:
    """Return the key of a conversation's rolling summary."""
    return key(conversation(scope, conversation_id), SUMMARY)


def facts_row(scope: Scope) -> Key:
    """Return the key of the count of an owner's changes of facts."""
    return key(owner(scope), FACTS)


def owner_of(partition: str) -> tuple[str, str]:
    """Return organisation and owner of an owner's partition: how the stream's reader learns whose a row is.

    Raises:
        ValueError: it is another partition.
    """
    match = _OWNER.fullmatch(partition)
    if match is None:
        raise ValueError("an owner's partition is needed")
    return unquote(match["org"]), unquote(match["owner"])


def conversation_of(partition: str) -> tuple[str, str]:
    """Return owner and conversation of a conversation's partition.

    Raises:
        ValueError: it is another partition.
    """
    match = _CONVERSATION.fullmatch(partition)
    if match is None:
        raise ValueError("a conversation's partition is needed")
    return unquote(match["owner"]), unquote(match["id"])


def roll_row(org: str) -> Key:
    """Return the key of the row that lists an organisation among all, in the directory's table."""
    return key(ROLL, quoted(org))


def round_row() -> Key:
    """Return the key of the row that says how far a round of all organisations has come, in the directory's table."""
    return key("round", "reconcile")


def part_row(scope: Scope, conversation_id: str, seq: int, number: int) -> Key:
    """Return the key of a message's part in the index."""
    return key(conversation(scope, conversation_id), f"{part_sort(seq)}{number:06d}")


def part_sort(seq: int) -> str:
    """Return what the sort keys of a message's parts begin with."""
    return f"{PARTS}{seq:012d}#"


def rating_row(scope: Scope, conversation_id: str, seq: int) -> Key:
    """Return the key of an archived answer's rating."""
    return key(conversation(scope, conversation_id), rating_sort(seq))


def rating_sort(seq: int) -> str:
    """Return the sort key of an archived answer's rating."""
    return f"rating#{seq:012d}"


def key(partition: str, sort: str) -> Key:
    """Return a row's key as DynamoDB takes it."""
    return {"pk": {"S": partition}, "sk": {"S": sort}}


def object_prefix(scope: Scope) -> str:
    """Return the prefix of an owner's objects in S3."""
    return f"{quoted(scope.org)}/{quoted(scope.owner)}/"


def quoted(part: str) -> str:
    """Quote what separates the parts of a key, and all else that is not plain."""
    return quote(part, safe="")
