"""A stand-in for the model's provider.

It speaks the Messages API's wire format (JSON and SSE) and validates like the provider; it answers by quoting the most
relevant fenced passages of the prompt, counts tokens, keeps a prompt cache, and fails in every way it is told to.
"""

from __future__ import annotations

from local.provider.app import create_app

__all__ = ["create_app"]
