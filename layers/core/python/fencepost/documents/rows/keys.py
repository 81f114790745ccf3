"""Keys of the corpus' table. Each is made from a `Scope`, so none can lead out of its organisation.

    partition                              sort key             row
    org#<org>#corpus                       doc#<id>             a document; `created_at` is the index's sort key
                                           work#<id>            who is at work on it
                                           reconcile            how far a comparison with the index has come
    org#<org>#corpus#doc#<id>              chunk#<chunk id>     a chunk
                                           places#<version>#<x> where the version's chunks stand whose ids begin with x
    org#<org>#embedding#<model>            <SHA-256 of a text>  its embedding

Rows of documents that wait for work bear `agenda` and `due_at`, the keys of the index `agenda`. Objects in S3 have the
prefix `<org>/corpus/<document id>/`, beside those of the organisation's owners.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote

from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import organisation
from fencepost.kernel.aws.keys import Key, key
from fencepost.kernel.ids import quoted

BY_CREATION: Final = "by_creation"
"""The index by which documents are listed."""
AGENDA: Final = "agenda"
"""The index of what is due, and the name of its partition key; its one value is `DUE`."""
DUE: Final = "due"
DUE_AT: Final = "due_at"
DOCUMENTS: Final = "doc#"
CHUNKS: Final = "chunk#"
HEX_DIGITS: Final = "0123456789abcdef"


def corpus(scope: Scope) -> str:
    """Return the partition of an organisation's documents."""
    return f"{organisation(scope.org)}corpus"


def document(scope: Scope, document_id: str) -> str:
    """Return the partition of a document's chunks."""
    return f"{corpus(scope)}#doc#{quoted(document_id)}"


def document_row(scope: Scope, document_id: str) -> Key:
    """Return the key of a document."""
    return key(corpus(scope), f"{DOCUMENTS}{quoted(document_id)}")


def work_row(scope: Scope, document_id: str) -> Key:
    """Return the key of the lease of work on a document."""
    return key(corpus(scope), f"work#{quoted(document_id)}")


def reconcile_row(scope: Scope) -> Key:
    """Return the key of the row that says how far a comparison with the index has come."""
    return key(corpus(scope), "reconcile")


def chunk_row(scope: Scope, document_id: str, chunk_id: str) -> Key:
    """Return the key of a chunk."""
    return key(document(scope, document_id), f"{CHUNKS}{quoted(chunk_id)}")


def places_row(scope: Scope, document_id: str, version: int, chunk_id: str) -> Key:
    """Return the key of the row that tells, among others, where a chunk stands in a version."""
    return key(document(scope, document_id), f"places#{version:08d}#{quoted(chunk_id[:1])}")


def document_of(row: Key) -> tuple[str, str]:
    """Return organisation and document of a document's key: whoever reads the agenda has no scope yet.

    Raises:
        ValueError: it is the key of something else.
    """
    partition, sort = row["pk"]["S"], row["sk"]["S"]
    org = partition.removeprefix("org#").removesuffix("#corpus")
    if partition != f"org#{org}#corpus" or not sort.startswith(DOCUMENTS):
        raise ValueError("a document's key is needed")
    return unquote(org), unquote(sort.removeprefix(DOCUMENTS))


def object_prefix(scope: Scope) -> str:
    """Return the prefix of what an organisation has in S3 that belongs to nobody in it."""
    return f"{quoted(scope.org)}/"
