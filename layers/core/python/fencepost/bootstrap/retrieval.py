"""The index and the embedder that the settings choose."""

from __future__ import annotations

import os
from functools import cache

from fencepost.bootstrap.stores import Stores
from fencepost.retrieval.bedrock import COHERE_V4, TITAN_V2, BedrockEmbedder
from fencepost.retrieval.local_embedder import LocalEmbedder
from fencepost.retrieval.ports import Embedder, VectorIndex
from fencepost.retrieval.service.embedding import CachedEmbedder
from fencepost.settings import Settings


def index_of(settings: Settings) -> VectorIndex | None:
    """Return the index; None where the deployment has none. Nothing is connected to, and no SDK is imported."""
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
    """Return the embedder. Nothing is loaded before its first use."""
    match settings.embedder:
        case "local":
            return _on_this_machine()
        case "titan-v2":
            return BedrockEmbedder(TITAN_V2)
        case "cohere-v4":
            return BedrockEmbedder(COHERE_V4)


@cache
def _on_this_machine() -> LocalEmbedder:
    """Return the process' one: documents and messages are embedded by one model, and it is loaded once."""
    return LocalEmbedder()


def cached_embedder(settings: Settings, reached: Stores) -> CachedEmbedder:
    """Return the embedder behind its cache."""
    return CachedEmbedder(embedder_of(settings), reached.embeddings)
