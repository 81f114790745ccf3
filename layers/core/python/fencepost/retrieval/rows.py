"""Rows of cached embeddings, and vectors packed in half precision."""

from __future__ import annotations

import struct
from typing import Final, cast

from pynamodb.attributes import BinaryAttribute, TTLAttribute, UnicodeAttribute

from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import organisation
from fencepost.kernel.aws.rows import Key, Row
from fencepost.kernel.ids import quoted
from fencepost.retrieval.domain.search import Vector

_HALF_BYTES: Final = 2


class EmbeddingRow(Row):
    """The embedding of a text. Written by `DynamoDbEmbeddingCache` alone."""

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#embedding#<model>
    sk = UnicodeAttribute(range_key=True)  # the text's SHA-256 hex digest
    vector = BinaryAttribute(legacy_encoding=False)  # as `pack` returns it
    expires_at = TTLAttribute()


def embedding_row(scope: Scope, model: str, digest: str) -> Key:
    """Return the key of a text's embedding.

    The organisation is part of the key, so response times do not reveal which texts other organisations hold.
    """
    return EmbeddingRow.key(f"{organisation(scope.org)}embedding#{quoted(model)}", quoted(digest))


def pack(vector: Vector) -> bytes:
    """Return a vector in half precision (IEEE 754 binary16, little-endian)."""
    return struct.pack(f"<{len(vector)}e", *vector)


def unpack(packed: object) -> Vector:
    """Return the vector that `pack` packed."""
    content = bytes(cast("bytes", packed))
    return struct.unpack(f"<{len(content) // _HALF_BYTES}e", content)
