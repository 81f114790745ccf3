"""Values of the domain as DynamoDB's items, and back. Both directions know the dataclass alone: no second schema."""

from __future__ import annotations

from dataclasses import MISSING, Field, asdict, fields
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from fencepost.kernel.aws.legacy.client import Item

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef


def to_item(value: DataclassInstance) -> dict[str, AttributeValueTypeDef]:
    """Return a dataclass's fields as attributes. Those that are None are left out; times are ISO 8601 in UTC."""
    plain = asdict(value, dict_factory=_plain)
    return {name: attribute(content) for name, content in plain.items() if content is not None}


def from_item[T: DataclassInstance](kind: type[T], item: Item) -> T:
    """Return the dataclass that an item holds. Attributes of other names are ignored.

    Raises:
        pydantic.ValidationError: the item is not one of that kind.
    """
    absent = {field.name: None for field in fields(kind) if _is_required(field)}
    value: T = _adapter(kind).validate_python(absent | {name: plain(content) for name, content in item.items()})
    return value


def attribute(content: object) -> AttributeValueTypeDef:
    """Return a plain value as an attribute: text, whole numbers, truth values, None, and lists and maps of these."""
    typed: AttributeValueTypeDef = _serializer().serialize(content)
    return typed


def nested(value: DataclassInstance) -> AttributeValueTypeDef:
    """Return a dataclass as one attribute, a map."""
    return attribute(asdict(value, dict_factory=_plain))


def plain(content: AttributeValueTypeDef) -> Any:
    """Return an attribute's value."""
    return _deserializer().deserialize(content)


def timestamp(moment: datetime) -> str:
    """Return a time in UTC with six decimals always, so that text sorts as times do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _plain(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: timestamp(content) if isinstance(content, datetime) else content for name, content in pairs}


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


@cache
def _adapter[T](kind: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(kind)


@cache
def _serializer() -> TypeSerializer:
    from boto3.dynamodb.types import TypeSerializer

    return TypeSerializer()


@cache
def _deserializer() -> TypeDeserializer:
    from boto3.dynamodb.types import TypeDeserializer

    return TypeDeserializer()
