"""Serialise conditions, actions and paths of pynamodb as fields of a request.

Every attribute name becomes a placeholder, so reserved words are safe, and every value becomes a parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from pynamodb.attributes import Attribute
from pynamodb.expressions.condition import And, Condition, Or
from pynamodb.expressions.operand import Path, _Size
from pynamodb.expressions.update import Action, Update
from pynamodb.expressions.util import substitute_names

type Selected = Attribute[Any] | Path
"""An attribute or document path in a projection."""


def all_of(first: Condition, *others: Condition | None) -> Condition:
    """Join conditions with AND. None is ignored."""
    return reduce(And, (one for one in others if one is not None), first)


def any_of(first: Condition, *others: Condition | None) -> Condition:
    """Join conditions with OR. None is ignored."""
    return reduce(Or, (one for one in others if one is not None), first)


def size_of(selected: Selected) -> _Size:
    """Return the size of an attribute: characters of text, bytes of binary data, members of a set, list or map."""
    return _Size(selected)


def expression_fields(
    *,
    key: Condition | None = None,
    condition: Condition | None = None,
    filtered: Condition | None = None,
    actions: Sequence[Action] = (),
    projection: Sequence[Selected] = (),
) -> dict[str, Any]:
    """Return the given expressions as fields of a request, with the placeholders that they share."""
    names, values = dict[str, str](), dict[str, Any]()
    conditions = {"KeyConditionExpression": key, "ConditionExpression": condition, "FilterExpression": filtered}
    fields: dict[str, Any] = {
        field: one.serialize(names, values) for field, one in conditions.items() if one is not None
    }
    if actions:
        fields["UpdateExpression"] = Update(*actions).serialize(names, values)
    if projection:
        fields["ProjectionExpression"] = ", ".join(substitute_names(_path(one), names) for one in projection)
    if names:
        fields["ExpressionAttributeNames"] = {placeholder: name for name, placeholder in names.items()}
    if values:
        fields["ExpressionAttributeValues"] = values
    return fields


def _path(selected: Selected) -> list[str]:
    return selected.attr_path if isinstance(selected, Attribute) else selected.path
