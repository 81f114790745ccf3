"""Embeddings of texts that were embedded before, in the corpus' table, for thirty days."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from fencepost.adapters.dynamodb import corpus_keys as keys
from fencepost.adapters.dynamodb.batches import put_rows, read_rows
from fencepost.adapters.dynamodb.client import ClientFactory, dynamodb_client
from fencepost.adapters.dynamodb.corpus_rows import pack, unpack
from fencepost.adapters.dynamodb.reading import EXPIRES_AT, is_past, utc_now
from fencepost.adapters.dynamodb.rows import attribute
from fencepost.domain.errors import FencepostError
from fencepost.domain.identity import Scope
from fencepost.domain.retrieval import Vector
from fencepost.ports import Clock

KEPT: Final = timedelta(days=30)

_VECTOR: Final = "vector"


class DynamoDbEmbeddingCache:
    """Implements `fencepost.ports.EmbeddingCache`. Vectors are kept in half precision.

    Args:
        table: name of the corpus' table.
        client: makes or returns the client, at the first use.
        clock: tells what is too old.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client, clock: Clock = utc_now) -> None:
        self._table = table
        self._client = client
        self._clock = clock

    def known(self, scope: Scope, model: str, digests: Sequence[str]) -> Mapping[str, Vector]:
        """See `fencepost.ports.EmbeddingCache`."""
        rows = [keys.embedding_row(scope, model, digest) for digest in dict.fromkeys(digests)]
        now = self._clock()
        try:
            items = read_rows(self._client(), self._table, rows)
        except FencepostError:
            return {}
        return {item["sk"]["S"]: unpack(item[_VECTOR]["B"]) for item in items if not is_past(item, now)}

    def remember(self, scope: Scope, model: str, vectors: Mapping[str, Vector]) -> None:
        """See `fencepost.ports.EmbeddingCache`."""
        expires = {EXPIRES_AT: attribute(int((self._clock() + KEPT).timestamp()))}
        rows = [
            keys.embedding_row(scope, model, digest) | expires | {_VECTOR: {"B": pack(vector)}}
            for digest, vector in vectors.items()
        ]
        try:
            put_rows(self._client(), self._table, rows)
        except FencepostError:
            # What is not remembered is embedded again.
            return
