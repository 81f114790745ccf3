"""The index on OpenSearch: Serverless of both generations, or a self-managed node."""
