"""The sizes of DynamoDB's items and values in bytes, as the service counts them.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

type Json = Mapping[str, Any]

_OVERHEAD = {"L": 3, "M": 3}


def item_size(attributes: Json) -> int:
    """Return the bytes of an item, or of other named values."""
    return sum(size_of_name(name) + size_of_value(value) for name, value in attributes.items())


def size_of_name(name: str) -> int:
    """Return the bytes of an attribute's name."""
    return len(name.encode())


def size_of_value(value: Json) -> int:
    """Return the bytes of a typed value, with what is nested in it."""
    kind, content = next(iter(value.items()))
    if kind in {"BOOL", "NULL"}:
        return 1
    if kind in {"S", "N", "B"}:
        return _size_of_scalar(kind, content)
    if kind in {"SS", "NS", "BS"}:
        return sum(_size_of_scalar(kind[0], one) for one in content)
    nested: Sequence[Json] = content if kind == "L" else [*content.values()]
    named = sum(map(size_of_name, content)) if kind == "M" else 0
    return _OVERHEAD[kind] + named + sum(1 + size_of_value(one) for one in nested)


def _size_of_scalar(kind: str, content: str) -> int:
    if kind == "N":
        return (len(content.strip("-+0.").replace(".", "")) + 1) // 2 + 1
    return len(base64.b64decode(content)) if kind == "B" else len(content.encode())
