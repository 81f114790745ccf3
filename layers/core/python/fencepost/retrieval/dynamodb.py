"""The cache of embeddings, in the documents' table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final, override

from fencepost.identity.domain.scope import Scope
from fencepost.kernel.aws.rows import attribute, number
from fencepost.kernel.aws.session import ClientFactory, dynamodb_client
from fencepost.kernel.aws.table import Table
from fencepost.kernel.clock import utc_now
from fencepost.kernel.errors import FencepostError
from fencepost.kernel.ports import Clock
from fencepost.retrieval.domain.search import Vector
from fencepost.retrieval.ports import EmbeddingCache
from fencepost.retrieval.rows import embedding_row, pack, unpack

KEPT: Final = timedelta(days=30)


class DynamoDbEmbeddingCache(EmbeddingCache):
    """Keeps vectors in half precision for thirty days.

    Args:
        table: name of the documents' table.
        client: makes or returns the client, at the first use.
        clock: decides which rows have expired; DynamoDB removes them days later.
    """

    def __init__(self, table: str, client: ClientFactory = dynamodb_client, clock: Clock = utc_now) -> None:
        self._table = Table(table, client)
        self._clock = clock

    @override
    def known(self, scope: Scope, model: str, digests: Sequence[str]) -> Mapping[str, Vector]:
        now = self._clock().timestamp()
        try:
            items = self._table.batch_get(embedding_row(scope, model, digest) for digest in dict.fromkeys(digests))
        except FencepostError:
            return {}
        return {item["sk"]["S"]: unpack(item["vector"]["B"]) for item in items if number(item, "expires_at") > now}

    @override
    def remember(self, scope: Scope, model: str, vectors: Mapping[str, Vector]) -> None:
        expiry = attribute(int((self._clock() + KEPT).timestamp()))
        rows = (
            embedding_row(scope, model, digest) | {"vector": attribute(pack(vector)), "expires_at": expiry}
            for digest, vector in vectors.items()
        )
        try:
            self._table.batch_write(puts=rows)
        except FencepostError:
            # A text whose vector is not cached is embedded again.
            return
