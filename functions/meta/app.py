"""`GET /health` and `GET /openapi.json`."""

from fencepost.edge.meta import handler

__all__ = ["handler"]
