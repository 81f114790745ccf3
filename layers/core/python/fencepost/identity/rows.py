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
from urllib.parse import unquote

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.keys import Key, key
from fencepost.kernel.ids import quoted

SITES = "site#"
MEMBERS = "member#"
REGISTRY = "organisations"
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


def registry_row(org: str) -> Key:
    """Return the key of the row that lists an organisation among all, in the directory's table."""
    return key(REGISTRY, quoted(org))
