"""Rows of cached embeddings, and vectors packed in half precision."""

from __future__ import annotations

import struct
from typing import Final, cast

from fencepost.identity.domain.scope import Scope
from fencepost.identity.rows import organisation
from fencepost.kernel.aws.keys import Key, key
from fencepost.kernel.ids import quoted
from fencepost.retrieval.domain.search import Vector


def embedding_row(scope: Scope, model: str, digest: str) -> Key:
    """Return the key of a text's embedding. Its organisation is in it: nobody learns by timing what others have."""
    return key(f"{organisation(scope.org)}embedding#{quoted(model)}", quoted(digest))


_HALF_BYTES: Final = 2


def pack(vector: Vector) -> bytes:
    """Return a vector in half precision (IEEE 754 binary16), the lowest byte first."""
    return struct.pack(f"<{len(vector)}e", *vector)


def unpack(packed: object) -> Vector:
    """Return the vector of its packed form."""
    content = bytes(cast("bytes", packed))
    return struct.unpack(f"<{len(content) // _HALF_BYTES}e", content)
