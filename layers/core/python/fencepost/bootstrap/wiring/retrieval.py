"""Wiring of the vector index and the embedder that the settings choose."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from fencepost.settings import Settings

if TYPE_CHECKING:
    from fencepost.retrieval.local_embedder import LocalEmbedder
    from fencepost.retrieval.ports import Embedder, VectorIndex


def index_of(settings: Settings) -> VectorIndex | None:
    """Return the index; None where the deployment has none. Opens no connection and imports no SDK."""
    if settings.index == "none":
        return None
    if settings.index == "embedded":
        from fencepost.retrieval.indexes.embedded.index import EmbeddedIndex

        return EmbeddedIndex(settings.index_path)
    from fencepost.retrieval.indexes.opensearch.cluster import Cluster
    from fencepost.retrieval.indexes.opensearch.index import OpenSearchIndex

    region = os.environ.get("AWS_REGION", "")
    cluster = Cluster(endpoint=settings.opensearch_endpoint, generation=settings.index, region=region)
    return OpenSearchIndex(cluster, embedder_of(settings).model)


def embedder_of(settings: Settings) -> Embedder:
    """Return the embedder. Its model is loaded at the first use."""
    if settings.embedder == "local":
        return local_embedder()
    from fencepost.retrieval.bedrock import COHERE_V4, TITAN_V2, BedrockEmbedder

    return BedrockEmbedder(TITAN_V2 if settings.embedder == "titan-v2" else COHERE_V4)


@cache
def local_embedder() -> LocalEmbedder:
    """Return the process's local embedder. Documents and messages share it, so that its model is loaded once."""
    from fencepost.retrieval.local_embedder import LocalEmbedder

    return LocalEmbedder()
