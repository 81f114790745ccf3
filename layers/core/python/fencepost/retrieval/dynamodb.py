"""Embeddings of texts that were embedded before, in the corpus' table, for thirty days."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final, override

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.legacy.batches import put_rows, read_rows
from fencepost.kernel.aws.legacy.client import ClientFactory, dynamodb_client
from fencepost.kernel.aws.legacy.reading import EXPIRES_AT, is_past, utc_now
from fencepost.kernel.aws.legacy.rows import attribute
from fencepost.kernel.errors import FencepostError
from fencepost.kernel.ports import Clock
from fencepost.retrieval import rows as retrieval_rows
from fencepost.retrieval.domain.search import Vector
from fencepost.retrieval.ports import EmbeddingCache
from fencepost.retrieval.rows import pack, unpack

KEPT: Final = timedelta(days=30)

_VECTOR: Final = "vector"


class DynamoDbEmbeddingCache(EmbeddingCache):
    """Vectors are kept in half precision.

    Args:
        table: name of the corpus' table.
        client: makes or returns the client, at the first use.
        clock: tells what is too old.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client, clock: Clock = utc_now) -> None:
        self._table = table
        self._client = client
        self._clock = clock

    @override
    def known(self, scope: Scope, model: str, digests: Sequence[str]) -> Mapping[str, Vector]:
        rows = [retrieval_rows.embedding_row(scope, model, digest) for digest in dict.fromkeys(digests)]
        now = self._clock()
        try:
            items = read_rows(self._client(), self._table, rows)
        except FencepostError:
            return {}
        return {item["sk"]["S"]: unpack(item[_VECTOR]["B"]) for item in items if not is_past(item, now)}

    @override
    def remember(self, scope: Scope, model: str, vectors: Mapping[str, Vector]) -> None:
        expires = {EXPIRES_AT: attribute(int((self._clock() + KEPT).timestamp()))}
        rows = [
            retrieval_rows.embedding_row(scope, model, digest) | expires | {_VECTOR: {"B": pack(vector)}}
            for digest, vector in vectors.items()
        ]
        try:
            put_rows(self._client(), self._table, rows)
        except FencepostError:
            # What is not remembered is embedded again.
            return
