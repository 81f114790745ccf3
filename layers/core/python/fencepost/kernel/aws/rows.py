"""Row models, and dataclasses as items and back.

A row model is where a reader learns a kind of row: who writes it, its keys, attributes, types and TTL. Its attributes
make the conditions and actions of requests; it is never instantiated.

    class DayRow(Row):
        '''The bill of one UTC day. Written by `DynamoDbLedger` alone.'''

        pk = UnicodeAttribute(hash_key=True)  # day#<date>
        calls = NumberAttribute()
        expires_at = TTLAttribute()
        mark = AttributeFamily(NumberAttribute, "r{}")  # r<lease id>: number of its first call

    table.update(DayRow.key("day#2026-03-01"), DayRow.calls.add(1), condition=DayRow.mark["x"].does_not_exist())

Where a row holds a dataclass, `to_item` and `from_item` map all of its fields; the dataclass is the only schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, fields
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
        """Return the primary key of a row, by the attributes that are declared as its keys."""
        declared = cls.get_attributes().values()
        key: Key = {one.attr_name: {"S": partition} for one in declared if one.is_hash_key}
        if sort is not None:
            key |= {one.attr_name: {"S": sort} for one in declared if one.is_range_key}
        return key

    @classmethod
    def key_of(cls, item: Item) -> Key:
        """Return the primary key out of an item."""
        declared = cls.get_attributes().values()
        return {one.attr_name: item[one.attr_name] for one in declared if one.is_hash_key or one.is_range_key}


class TimestampAttribute(Attribute[datetime]):
    """A time as ISO 8601 text in UTC with six decimals, so that text sorts as times do."""

    attr_type = STRING

    def serialize(self, value: datetime) -> str:
        """Return the text of a time."""
        return timestamp(value)

    def deserialize(self, value: str) -> datetime:
        """Return the time of a text."""
        return datetime.fromisoformat(value)


class TypedAttribute(Attribute["AttributeValueTypeDef"]):
    """An attribute of any type: it is set to and compared with typed values, as `attribute` and `nested` make them."""

    attr_type = ""


class AttributeFamily[A: Attribute[Any]]:
    """Attributes of one type whose names are made at run time.

    Args:
        kind: their type; `TypedAttribute` for maps.
        pattern: their name, with `{}` where the varying part stands.
        inside: name of the map that holds them; by default the row itself does.

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
        """Return the name of one of them, as it stands in an item."""
        return self._pattern.format(varying)

    def __getitem__(self, varying: object) -> A:
        """Return one of them for use in conditions and actions."""
        found = self._kind(attr_name=self.name(varying))
        found.attr_path = [*self._parents, found.attr_name]
        return found


def inside[A: Attribute[Any]](parent: str, child: A) -> A:
    """Declare an attribute of a map in a row, for use in conditions and actions.

    Example:
        open_turn = TypedAttribute()
        open_turn_holder = inside("open_turn", UnicodeAttribute(attr_name="holder"))
    """
    child.attr_path = [parent, child.attr_name]
    return child


def set_item(item: Item) -> list[SetAction]:
    """Return the actions that set attributes to those of an item."""
    return [SetAction(Path([name]), Value(value)) for name, value in item.items()]


def to_item(value: DataclassInstance) -> dict[str, AttributeValueTypeDef]:
    """Return the fields of a dataclass as attributes. None is left out; times are ISO 8601 in UTC."""
    plain = asdict(value, dict_factory=_plain)
    return {name: attribute(content) for name, content in plain.items() if content is not None}


def from_item[T: DataclassInstance](kind: type[T], item: Item) -> T:
    """Return the dataclass that an item holds. Attributes of other names are ignored.

    Raises:
        pydantic.ValidationError: the item does not fit the dataclass.
    """
    absent = {field.name: None for field in fields(kind) if _is_required(field)}
    value: T = _adapter(kind).validate_python(absent | {name: plain(content) for name, content in item.items()})
    return value


def attribute(content: object) -> AttributeValueTypeDef:
    """Return a plain value as a typed one: text, whole numbers, truth values, None, and lists and maps of these."""
    typed: AttributeValueTypeDef = _serializer().serialize(content)
    return typed


def nested(value: DataclassInstance) -> AttributeValueTypeDef:
    """Return a dataclass as one typed value, a map."""
    return attribute(asdict(value, dict_factory=_plain))


def plain(content: AttributeValueTypeDef) -> Any:
    """Return the plain value of a typed one."""
    return _deserializer().deserialize(content)


def number(item: Item, name: str) -> int:
    """Return a whole number of an item; 0 where it is absent."""
    return int(item[name]["N"]) if name in item else 0


def timestamp(moment: datetime) -> str:
    """Return a time in UTC, always with six decimals."""
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
