"""The index on OpenSearch: Serverless of both generations, or a node of one's own."""

from __future__ import annotations

from fencepost.retrieval.indexes.opensearch.cluster import Cluster, Generation, Limits
from fencepost.retrieval.indexes.opensearch.index import OpenSearchIndex
from fencepost.retrieval.indexes.opensearch.migration import Migration, Moved

__all__ = ["Cluster", "Generation", "Limits", "Migration", "Moved", "OpenSearchIndex"]
