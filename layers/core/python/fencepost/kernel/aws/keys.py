"""Primary keys of tables whose keys are named `pk` and `sk`."""

from __future__ import annotations

from fencepost.kernel.aws.rows import Key

__all__ = ["Key", "key"]


def key(partition: str, sort: str) -> Key:
    """Return the primary key of a row."""
    return {"pk": {"S": partition}, "sk": {"S": sort}}
