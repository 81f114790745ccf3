"""Dataclasses as JSON Lines in UTF-8, the format of archives and bundles."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class UnreadableLine(ValueError):
    """A line does not hold the expected dataclass. The message does not quote the line."""


def to_line(value: DataclassInstance) -> bytes:
    """Return a dataclass as a line, with its line end. Equal values give equal bytes."""
    content: bytes = _adapter(type(value)).dump_json(value, exclude_none=True)
    return content + b"\n"


def from_line[T: DataclassInstance](kind: type[T], line: bytes) -> T:
    """Return the dataclass of a line.

    Raises:
        UnreadableLine: the line does not hold a dataclass of this kind.
    """
    try:
        value: T = _adapter(kind).validate_json(line)
    except ValidationError:
        # Pydantic's message quotes the input, so it is dropped.
        raise UnreadableLine from None
    return value


@cache
def _adapter(kind: type[DataclassInstance]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
