"""Base of row models, and conversion between dataclasses and items.

A row model describes a kind of row: its writer, keys, attributes, types and TTL. Its attributes are used to build
conditions and actions of requests; it is never instantiated.

    class DayRow(Row):
        '''The bill of one UTC day. Written by `DynamoDbLedger` alone.'''

        pk = UnicodeAttribute(hash_key=True)  # day#<date>
        calls = NumberAttribute()
        expires_at = TTLAttribute()
        mark = AttributeFamily(NumberAttribute, "r{}")  # r<lease id>: number of its first call

    table.update(DayRow.key("day#2026-03-01"), DayRow.calls.add(1), condition=DayRow.mark["x"].does_not_exist())

`to_item` and `from_item` convert all fields of a dataclass, which is then the only schema of the row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from pynamodb.attributes import Attribute, AttributeContainer
from pynamodb.constants import STRING
from pynamodb.expressions.operand import Path, Value
from pynamodb.expressions.update import SetAction

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

type Item = Mapping[str, AttributeValueTypeDef]
type Key = dict[str, AttributeValueTypeDef]


class Row(AttributeContainer):
    """Base of row models."""

    @classmethod
    def key(cls, partition: str, sort: str | None = None) -> Key:
        """Return the primary key of a row, under the names of the declared key attributes."""
        declared = cls.get_attributes().values()
        key: Key = {one.attr_name: {"S": partition} for one in declared if one.is_hash_key}
        if sort is not None:
            key |= {one.attr_name: {"S": sort} for one in declared if one.is_range_key}
        return key

    @classmethod
    def key_of(cls, item: Item) -> Key:
        """Return the primary key of an item."""
        declared = cls.get_attributes().values()
        return {one.attr_name: item[one.attr_name] for one in declared if one.is_hash_key or one.is_range_key}


class TimestampAttribute(Attribute[datetime]):
    """A time as ISO 8601 text in UTC with six decimals, so that texts sort like times."""

    attr_type = STRING

    def serialize(self, value: datetime) -> str:
        """Return a time as text."""
        return timestamp(value)

    def deserialize(self, value: str) -> datetime:
        """Return a text as time."""
        return datetime.fromisoformat(value)


class TypedAttribute(Attribute["AttributeValueTypeDef"]):
    """An attribute of any type, for values that `attribute` and `nested` return."""

    attr_type = ""


class AttributeFamily[A: Attribute[Any]]:
    """Attributes of one type whose names vary.

    Args:
        kind: type of the attributes; `TypedAttribute` for maps.
        pattern: name of the attributes, with `{}` for the varying part.
        inside: name of the map that contains them; by default they are attributes of the row.

    Example:
        mark = AttributeFamily(NumberAttribute, "r{}")
        answer = AttributeFamily(TypedAttribute, "{}", inside="answers")
        PointerRow.answer[3].set(nested(entry))  # SET answers.3
    """

    def __init__(self, kind: type[A], pattern: str, *, inside: str | None = None) -> None:
        self._kind = kind
        self._pattern = pattern
        self._parents = [] if inside is None else [inside]

    def name(self, varying: object) -> str:
        """Return the name of an attribute of the family, as in items."""
        return self._pattern.format(varying)

    def __getitem__(self, varying: object) -> A:
        """Return an attribute of the family, for conditions and actions."""
        found = self._kind(attr_name=self.name(varying))
        found.attr_path = [*self._parents, found.attr_name]
        return found


def inside[A: Attribute[Any]](parent: str, child: A) -> A:
    """Declare an attribute inside a map of a row, for conditions and actions.

    Example:
        open_turn = TypedAttribute()
        open_turn_holder = inside("open_turn", UnicodeAttribute(attr_name="holder"))
    """
    child.attr_path = [parent, child.attr_name]
    return child


def set_item(item: Item) -> list[SetAction]:
    """Return actions that set all attributes of an item."""
    return [SetAction(Path([name]), Value(value)) for name, value in item.items()]


def to_item(value: DataclassInstance) -> dict[str, AttributeValueTypeDef]:
    """Return a dataclass as an item. Fields that are None are omitted; times become ISO 8601 in UTC."""
    plain = asdict(value, dict_factory=_plain)
    return {name: attribute(content) for name, content in plain.items() if content is not None}


def from_item[T: DataclassInstance](kind: type[T], item: Item) -> T:
    """Return the dataclass of an item. Attributes without a field are ignored.

    Raises:
        pydantic.ValidationError: the item does not fit the dataclass.
    """
    required = (each for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING)
    absent = {field.name: None for field in required}
    value: T = _adapter(kind).validate_python(absent | {name: plain(content) for name, content in item.items()})
    return value


def attribute(content: object) -> AttributeValueTypeDef:
    """Return a Python value as an attribute value: text, integers, booleans, None, and lists and maps of these."""
    typed: AttributeValueTypeDef = _serializer().serialize(content)
    return typed


def nested(value: DataclassInstance) -> AttributeValueTypeDef:
    """Return a dataclass as an attribute value, a map."""
    return attribute(asdict(value, dict_factory=_plain))


def plain(content: AttributeValueTypeDef) -> Any:
    """Return the Python value of an attribute value."""
    return _deserializer().deserialize(content)


def number(item: Item, name: str) -> int:
    """Return an integer attribute of an item; 0 if it is absent."""
    return int(item[name]["N"]) if name in item else 0


def timestamp(moment: datetime) -> str:
    """Return a time as ISO 8601 text in UTC with six decimals."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _plain(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: timestamp(content) if isinstance(content, datetime) else content for name, content in pairs}


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
