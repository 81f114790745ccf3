"""Partitions of the tables, and keys of the rows that several packages share.

Every key is made from a `Scope`, or from an organisation that was authorised, so no key leads out of it. The package
that owns a kind of row declares it in `rows`:

    partition of the conversations' table  sort keys begin with                 declared in
    org#<org>#own#<owner>                  conv# msg# file# import# gone#       fencepost.conversations.rows.models
                                           erased
                                           fact# work#facts                     fencepost.memory.rows
                                           job#                                 fencepost.queue.rows
    org#<org>#own#<owner>#conv#<id>        m# block# rating#                    fencepost.conversations.rows.models
                                           vec# summary                         fencepost.memory.rows
                                           work#<purpose>                       fencepost.queue.rows
    org#<org>#                             diag# look#                          fencepost.lifecycle.rows

Names in S3 begin with the same values, with slashes: `<org>/<owner>/…` and `<org>/<owner>/conv/<id>/…`.
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
