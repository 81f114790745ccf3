"""Row models and keys of the directory's table, and the partitions of the tables that organisations share.

The directory's table (`DirectoryTable`) holds who belongs where. This package owns its rows, except `round`:

    partition         sort key         row
    org#<org>#        org              `OrganisationRow`: settings of an organisation
                      site#<site>      `SiteRow`: a site
                      member#<user>    `MembershipRow`: a membership
    key#<public key>  site             `PublicKeyRow`: which site has a public key
    organisations     <org>            `RegistryRow`: one for each organisation, so that jobs can list them all
    round             reconcile        progress of the reconciler; `fencepost.jobs`

The conversations' table (`ConversationsTable`) has one partition for each owner, and one for each conversation. The
functions below make their names; each row belongs to the package named beside it:

    partition                          sort key            row                                          package
    org#<org>#own#<owner>              conv#<id>           conversation; index `by_update`              conversations
                                       msg#<message id>    where a message stands, its answers' contexts conversations
                                       file#<id>           attachment                                   conversations
                                       fact#<state>#<id>   fact                                         memory
                                       work#facts          count of changes to the facts                memory
                                       job#<id>            job that a client asked for                  queue
                                       import#<id>         conversation that an import is writing       lifecycle
                                       erased              `erased_at`: last erasure of all owner data  lifecycle
                                       gone#<id>           tombstone of an erased conversation          lifecycle
    org#<org>#own#<owner>#conv#<id>    m#<seq>             message                                      conversations
                                       block#<first seq>   block of messages that moved to S3           conversations
                                       rating#<seq>        rating of an answer in a block               conversations
                                       vec#<seq>#<part>    index entry of a message's chunk             memory
                                       summary             rolling summary                              memory
                                       work#<purpose>      lease and progress of one kind of job        queue
    org#<org>#                         diag#<id>           diagnosis that an admin opened               lifecycle
                                       look#<id>#<time>…   one access within a diagnosis                lifecycle

`<seq>` has twelve digits, so that text sorts as numbers do. The documents' table (`CorpusTable`) has partitions that
begin with `org#<org>#corpus`; `fencepost.documents.rows` describes them.

Every partition of an organisation begins with `org#<org>#`, which is what the tenant role's policy matches
(docs/adr/0010). Partitions of owners and conversations are made from a `Scope` alone. S3 prefixes have the same names
with slashes: `<org>/<owner>/…` and `<org>/<owner>/conv/<id>/…`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from pynamodb.attributes import BooleanAttribute, NumberAttribute, UnicodeAttribute

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.rows import Key, Row
from fencepost.kernel.ids import quoted

SITES = "site#"
MEMBERS = "member#"
REGISTRY = "organisations"
REMEMBERED = "remembered"
"""Index of conversations that have chunks in the vector index, and the name of its partition key.

The key's value is the organisation's partition, so that a session of the tenant role may query its own entries only.
"""
_OWNER = re.compile("org#(?P<org>[^#]+)#own#(?P<owner>[^#]+)")
_CONVERSATION = re.compile("org#[^#]+#own#(?P<owner>[^#]+)#conv#(?P<id>[^#]+)")


class DirectoryRow(Row):
    """Base of the directory's rows. None of them expires."""

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)


class VersionedRow(DirectoryRow):
    """Base of rows that hold a dataclass with a version. Written by `DynamoDbDirectoryAdmin` alone."""

    version = NumberAttribute()  # from 1; raised by each write


class OrganisationRow(VersionedRow):
    """Settings of an organisation: all fields of `Organisation`."""


class SiteRow(VersionedRow):
    """A site, open or closed: all fields of `Site`. Rows of closed sites stay."""


class MembershipRow(VersionedRow):
    """A membership, active or not: all fields of `Membership`. Turns check it in their transactions."""

    role = UnicodeAttribute()  # an `OrgRole`
    active = BooleanAttribute()


class PublicKeyRow(DirectoryRow):
    """Which site has a public key: all fields of `SiteReference`.

    Written by `DynamoDbDirectoryAdmin` in the transaction that writes the site, which keeps public keys unique.
    """

    org = UnicodeAttribute()
    site = UnicodeAttribute()


class RegistryRow(DirectoryRow):
    """The entry of an organisation in the registry. Has no attributes besides its key.

    Written by `DynamoDbDirectoryAdmin` before the first row of an organisation, read by `fencepost.jobs`.
    """


class ConversationsTableRow(Row):
    """Keys of any row of the conversations' table."""

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)


@dataclass(frozen=True, slots=True)
class SiteReference:
    """The site that a public key belongs to."""

    org: str
    site: str


def organisation_row(org: str) -> Key:
    """Return the key of an organisation's settings."""
    return OrganisationRow.key(organisation(org), "org")


def site_row(org: str, site_id: str) -> Key:
    """Return the key of a site."""
    return SiteRow.key(organisation(org), f"{SITES}{quoted(site_id)}")


def membership_row(org: str, user: str) -> Key:
    """Return the key of a membership. It takes no `Scope`: scopes are made from memberships."""
    return MembershipRow.key(organisation(org), f"{MEMBERS}{quoted(user)}")


def public_key_row(public_key: str) -> Key:
    """Return the key of the row that maps a public key to its site."""
    return PublicKeyRow.key(f"key#{quoted(public_key)}", "site")


def registry_row(org: str) -> Key:
    """Return the key of an organisation's entry in the registry."""
    return RegistryRow.key(REGISTRY, quoted(org))


def organisation(org: str) -> str:
    """Return the partition of an organisation's own rows, and the prefix of all its other partitions."""
    return f"org#{quoted(org)}#"


def owner(scope: Scope) -> str:
    """Return the partition of an owner."""
    return f"{organisation(scope.org)}own#{quoted(scope.owner)}"


def conversation(scope: Scope, conversation_id: str) -> str:
    """Return the partition of a conversation's messages."""
    return f"{owner(scope)}#conv#{quoted(conversation_id)}"


def conversation_row(scope: Scope, conversation_id: str) -> Key:
    """Return the key of a conversation."""
    return ConversationsTableRow.key(owner(scope), f"conv#{quoted(conversation_id)}")


def owner_of(partition: str) -> tuple[str, str]:
    """Return organisation and owner of an owner's partition, as records of the stream name it.

    Raises:
        ValueError: `partition` is not an owner's.
    """
    match = _OWNER.fullmatch(partition)
    if match is None:
        raise ValueError("an owner's partition is needed")
    return unquote(match["org"]), unquote(match["owner"])


def conversation_of(partition: str) -> tuple[str, str]:
    """Return owner and conversation of a conversation's partition.

    Raises:
        ValueError: `partition` is not a conversation's.
    """
    match = _CONVERSATION.fullmatch(partition)
    if match is None:
        raise ValueError("a conversation's partition is needed")
    return unquote(match["owner"]), unquote(match["id"])
