"""Row models, dataclasses as items, and the expressions that attributes make."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum

import pytest
from pynamodb.attributes import (
    BooleanAttribute,
    NumberAttribute,
    TTLAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
)

from fencepost.kernel.aws.expressions import all_of, any_of, expression_fields, size_of
from fencepost.kernel.aws.rows import (
    AttributeFamily,
    Row,
    TimestampAttribute,
    TypedAttribute,
    attribute,
    from_item,
    inside,
    nested,
    set_item,
    to_item,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class State(StrEnum):
    OPEN = "open"


@dataclass(frozen=True)
class Turn:
    holder: str
    until: datetime
    seq: int = 0


@dataclass(frozen=True)
class Talk:
    id: str
    state: State
    turn: Turn | None
    files: tuple[str, ...] = ()
    title: str | None = None


class TalkRow(Row):
    """A row with every kind of attribute."""

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)
    state = UnicodeAttribute()
    open_turn = TypedAttribute()
    open_turn_holder = inside("open_turn", UnicodeAttribute(attr_name="holder"))
    open_turn_until = inside("open_turn", TimestampAttribute(attr_name="until"))
    next_seq = NumberAttribute()
    active = BooleanAttribute()
    used_by = UnicodeSetAttribute()
    updated_at = TimestampAttribute()
    expires_at = TTLAttribute()
    answer = AttributeFamily(TypedAttribute, "{}", inside="answers")
    made_for = AttributeFamily(NumberAttribute, "key#{}")


@pytest.mark.parametrize(
    "talk",
    [
        Talk("t1", State.OPEN, None),
        Talk("t1", State.OPEN, Turn("me", NOON, 3), ("a", "b"), "About fences"),
    ],
)
def test_a_dataclass_comes_back_from_its_item(talk: Talk) -> None:
    item = to_item(talk) | TalkRow.key("p", "s")
    assert None not in item.values()
    assert from_item(Talk, item) == talk


def test_times_are_text_in_utc_with_microseconds_and_none_is_left_out() -> None:
    elsewhere = NOON.astimezone(timezone(timedelta(hours=2)))
    item = to_item(Talk("t1", State.OPEN, Turn("me", elsewhere)))
    assert item["turn"]["M"]["until"] == {"S": "2026-03-01T12:00:00.000000Z"}
    assert "title" not in item


def test_a_key_names_the_declared_attributes() -> None:
    assert TalkRow.key("p", "s") == {"pk": {"S": "p"}, "sk": {"S": "s"}}
    assert TalkRow.key("p") == {"pk": {"S": "p"}}
    assert TalkRow.key_of(TalkRow.key("p", "s") | {"state": {"S": "open"}}) == TalkRow.key("p", "s")


def test_conditions_name_attributes_by_placeholders_and_carry_typed_values() -> None:
    fields = expression_fields(
        condition=all_of(
            TalkRow.open_turn_holder == "me",
            TalkRow.updated_at >= NOON,
            None,
            any_of(TalkRow.state == State.OPEN, TalkRow.active == True, TalkRow.used_by.contains("c1")),  # noqa: E712
        )
    )
    assert fields == {
        "ConditionExpression": "((#0.#1 = :0 AND #2 >= :1) AND ((#3 = :2 OR #4 = :3) OR contains (#5, :4)))",
        "ExpressionAttributeNames": {
            "#0": "open_turn",
            "#1": "holder",
            "#2": "updated_at",
            "#3": "state",
            "#4": "active",
            "#5": "used_by",
        },
        "ExpressionAttributeValues": {
            ":0": {"S": "me"},
            ":1": {"S": "2026-03-01T12:00:00.000000Z"},
            ":2": {"S": "open"},
            ":3": {"BOOL": True},
            ":4": {"S": "c1"},
        },
    }


def test_actions_of_every_kind_share_one_expression() -> None:
    fields = expression_fields(
        actions=[
            TalkRow.open_turn.set(nested(Turn("me", NOON))),
            TalkRow.next_seq.set((TalkRow.next_seq | 0) + 1),
            TalkRow.expires_at.set(NOON),
            TalkRow.answer[3].set({"M": {"seq": {"N": "7"}}}),
            TalkRow.made_for["a.b"].set(3),
            TalkRow.state.remove(),
            TalkRow.used_by.add({"c1"}),
        ],
        condition=size_of(TalkRow.used_by) < 3,
    )
    assert fields["UpdateExpression"] == (
        "SET #1 = :1, #2 = if_not_exists (#2, :2) + :3, #3 = :4, #4.#5 = :5, #6 = :6 REMOVE #7 ADD #0 :7"
    )
    assert fields["ConditionExpression"] == "size (#0) < :0"
    assert fields["ExpressionAttributeNames"]["#6"] == "key#a.b"
    values = fields["ExpressionAttributeValues"]
    assert values[":1"] == {
        "M": {"holder": {"S": "me"}, "until": {"S": "2026-03-01T12:00:00.000000Z"}, "seq": {"N": "0"}}
    }
    assert values[":4"] == {"N": str(int(NOON.timestamp()))}
    assert values[":7"] == {"SS": ["c1"]}


def test_whole_items_are_set_attribute_by_attribute() -> None:
    fields = expression_fields(actions=set_item({"a.b": attribute(1), "c": attribute(None)}))
    assert fields == {
        "UpdateExpression": "SET #0 = :0, #1 = :1",
        "ExpressionAttributeNames": {"#0": "a.b", "#1": "c"},
        "ExpressionAttributeValues": {":0": {"N": "1"}, ":1": {"NULL": True}},
    }


def test_projections_name_paths() -> None:
    fields = expression_fields(projection=[TalkRow.pk, TalkRow.open_turn_until, TalkRow.answer["3"]])
    assert fields["ProjectionExpression"] == "#0, #1.#2, #3.#4"


def test_nothing_asked_for_is_nothing_sent() -> None:
    assert expression_fields() == {}


def test_a_family_names_its_members() -> None:
    assert TalkRow.made_for.name("f1") == TalkRow.made_for["f1"].attr_name == "key#f1"
