"""The index on OpenSearch: Serverless of both generations, or a node of one's own."""

from __future__ import annotations

from fencepost.adapters.opensearch.cluster import Cluster, Generation, Limits
from fencepost.adapters.opensearch.index import OpenSearchIndex
from fencepost.adapters.opensearch.migration import Migration, Moved

__all__ = ["Cluster", "Generation", "Limits", "Migration", "Moved", "OpenSearchIndex"]
