"""Values of the domain as JSON Lines: one JSON object a line, in UTF-8, as archives and bundles hold them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class UnreadableLine(ValueError):
    """A line is not the JSON of such a value. The text says nothing of it."""


def to_line(value: DataclassInstance) -> bytes:
    """Return a dataclass as one line, with its end. The same value makes the same bytes, always."""
    content: bytes = _adapter(type(value)).dump_json(value, exclude_none=True)
    return content + b"\n"


def from_line[T: DataclassInstance](kind: type[T], line: bytes) -> T:
    """Read a dataclass.

    Raises:
        UnreadableLine: it is none of that kind.
    """
    try:
        value: T = _adapter(kind).validate_json(line)
    except ValidationError:
        # Pydantic's message quotes the input: it goes no further.
        raise UnreadableLine from None
    return value


@cache
def _adapter(kind: type[DataclassInstance]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
