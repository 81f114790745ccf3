"""How late a paid call may still start."""

from __future__ import annotations

LATEST_START_SECONDS = 15.0
"""A turn that waited longer than this for its lease is not begun: too little time is left for the model's call."""
