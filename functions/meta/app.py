"""Entry point of the meta function: `GET /health` and `GET /openapi.json`."""

from fencepost.web.meta import handler

__all__ = ["handler"]
