"""Texts cut into pieces that can be found, embedded and cited, each leading back to its place."""

from __future__ import annotations

from fencepost.domain.chunking.bounds import Bounds
from fencepost.domain.chunking.noise import spoken
from fencepost.domain.chunking.pieces import cut

__all__ = ["Bounds", "cut", "spoken"]
