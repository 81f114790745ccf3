"""Row models of the reconciler: whose turn it is, and how far the comparison of an organisation has come."""

from __future__ import annotations

from pynamodb.attributes import UnicodeAttribute

from fencepost.documents.rows import documents_partition
from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import DirectoryRow
from fencepost.kernel.aws.rows import Key, Row


class RoundRow(DirectoryRow):
    """The organisation whose turn was last, in the directory's table. Written by `DynamoDbOrganisationRegistry` alone.

    There is one row. It does not expire.
    """

    pk = UnicodeAttribute(hash_key=True)  # round
    sk = UnicodeAttribute(range_key=True)  # reconcile
    done = UnicodeAttribute()  # id of the organisation


class ReconcileRow(Row):
    """Progress of an organisation's comparison, in the documents' table: all fields of `DiffProgress`.

    Written by `DynamoDbReconcileStore` alone. It does not expire; each run replaces it.
    """

    pk = UnicodeAttribute(hash_key=True)  # the partition of the organisation's documents
    sk = UnicodeAttribute(range_key=True)  # reconcile


def round_row() -> Key:
    """Return the key of the one `RoundRow`."""
    return RoundRow.key("round", "reconcile")


def reconcile_row(scope: Scope) -> Key:
    """Return the key of an organisation's `ReconcileRow`."""
    return ReconcileRow.key(documents_partition(scope), "reconcile")
