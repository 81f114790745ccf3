"""Texts cut into pieces that can be found, embedded and cited, each leading back to its place."""

from __future__ import annotations

from fencepost.documents.domain.chunking.bounds import Bounds
from fencepost.documents.domain.chunking.chunks import chunk
from fencepost.documents.domain.chunking.noise import spoken

__all__ = ["Bounds", "chunk", "spoken"]
