"""The key of the reconciler's row."""

from __future__ import annotations

from fencepost.kernel.aws.keys import Key, key


def round_row() -> Key:
    """Return the key of the row that says how far a round of all organisations has come, in the directory's table."""
    return key("round", "reconcile")
